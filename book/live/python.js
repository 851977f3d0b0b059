/* Python for a page: starts Pyodide in a worker (worker.js) and talks to it. Nothing is fetched before it is asked for.

     const python = createPython({ tell: (words) => … });
     await python.run("1 + 1", { name: "cell 1", write: (kind, text) => … });
     await python.call("package.module.function", [1, { a: 2 }]);
     python.stop();
*/
import { PLACE } from "./place.js";

const KEY = "python: seconds";
/* What people call the packages. */
const NAMES = { numpy: "NumPy", pandas: "pandas", scipy: "SciPy", "scikit-learn": "scikit-learn", matplotlib: "Matplotlib", xgboost: "XGBoost" };

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

function remembered() {
  try {
    return Number(localStorage.getItem(KEY));
  } catch {
    return 0; // a browser that stores nothing
  }
}
function remember(seconds) {
  try {
    localStorage.setItem(KEY, seconds.toFixed(1));
  } catch {}
}

/* "NumPy", "NumPy and pandas", "NumPy, pandas and SciPy": those that a reader would know, or all. */
export function listed(packages) {
  const known = packages.filter((name) => name in NAMES);
  const names = (known.length ? known : packages).map((name) => NAMES[name] ?? name);
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
}

/* Where packages come from, in a form that a reader may know. */
export const host = new URL(PLACE.wheels, import.meta.url).host;

/* `archives` are addresses of zips of Python modules, unpacked in addition to the page's own. `tell(words)` is called with what
   is being loaded, and with "" once there is nothing to wait for but the code itself. */
export function createPython({ archives = [], tell = () => {} } = {}) {
  const here = (name) => new URL(name, import.meta.url).href;
  const place = Object.fromEntries(Object.entries(PLACE.files).map(([name, file]) => [name, here(file)]));
  place.wheels = here(PLACE.wheels);
  place.archives = [place.plain, ...archives.map((file) => new URL(file, document.baseURI).href)];
  const waiting = new Map();
  let worker = null;
  let isReady = false;
  let loading = ""; // what is being loaded after the start
  let before = 0; // bytes that had been loaded by then
  let count = 0;

  function progress(bytes) {
    if (loading) return tell(`Loading ${loading} from ${host}: ${megabytes(bytes - before)} MB …`);
    if (isReady) return;
    const share = Math.min(100, Math.round((100 * bytes) / PLACE.bytes));
    const last = remembered();
    const time = last ? `; last time it took ${last} s` : "";
    tell(`Loading Python, once per page (${megabytes(PLACE.sent)} MB${time}): ${share} % …`);
  }

  function hear({ data }) {
    const request = waiting.get(data.id);
    if (data.fatal) return fail(data.fatal);
    if (data.loading) (loading = listed(data.loading)), progress(before);
    else if (data.ready) {
      isReady = true;
      before = data.bytes;
      remember(data.ready);
      tell("");
    } else if (data.bytes) {
      if (!loading && isReady) before = data.bytes;
      progress(data.bytes);
    } else if (data.done) {
      if (loading) (loading = ""), tell("");
      waiting.delete(data.id);
      request?.settle(data.done);
    } else {
      if (loading) (loading = ""), tell("");
      request?.write(data.kind, data.text);
    }
  }

  function start() {
    if (worker) return;
    try {
      worker = new Worker(here("worker.js"), { type: "module" });
    } catch {
      throw new Error("Python runs on a page that comes from a server, not on one that is opened as a file.");
    }
    worker.onmessage = hear;
    worker.onerror = ({ message }) => {
      // Pyodide tidies up at a bad moment now and then: nothing is lost.
      if (!message?.includes("NoGilError")) fail(message || "its files could not be loaded");
    };
    progress(0);
    worker.postMessage({ place, do: "start", id: 0 });
  }

  function ask(request, write = () => {}) {
    start();
    return new Promise((settle) => {
      waiting.set(++count, { settle, write });
      worker.postMessage({ ...request, id: count });
    });
  }

  /* Ends the worker; all requests that wait get `answer`. */
  function end(answer) {
    worker?.terminate();
    worker = null;
    isReady = false;
    loading = "";
    before = 0;
    const settles = [...waiting.values()];
    waiting.clear();
    for (const { settle } of settles) settle(answer);
  }

  // The next press starts again.
  function fail(reason) {
    end({ error: `Python did not start: ${reason}`, line: 0 });
  }

  return {
    start,
    /* Runs source code under a name for its errors. `write(kind, text)` gets what it prints ("out", "err") and shows
       ("text", "html", "svg"). `mode`: "" goes on, "again" first forgets what the last run did to names, "fresh" forgets
       all names. Resolves with {} or { error, line, missing }, or with null when it was stopped. */
    run: (source, { name = "code", mode = "", write } = {}) => ask({ do: "run", source, name, mode }, write),
    /* Calls a Python function by its full name, with values that JSON (or an array of bytes) can hold. Resolves with
       { value } or { error }, or with null when it was stopped. */
    call: (name, values = [], { write } = {}) => ask({ do: "call", name, values }, write),
    /* Loads what some code would import, such as "import treekit.models.cart". Resolves with { missing }: what could not
       be loaded, as `listed` names it; or with null when it was stopped. */
    load: (source) => ask({ do: "load", source }),
    /* Ends whatever runs and forgets everything; what waits gets null. Starts again at once. */
    stop() {
      end(null);
      start();
    },
    isReady: () => isReady,
  };
}
