/* Python in a thread of its own: this module worker holds Pyodide, and `python.js` on the page talks to it. */
const CUT = 200_000; // characters that one request may print
const FLUSH = 50; // milliseconds between what is sent of a long output

let place; // where everything lies; python.js says it with the first message
let python;
let runner; // the functions of runner.py, kept for good: handing one back to Python might find it busy
let id = 0; // of the request that is being answered

/* Counts the bytes of what is fetched, also by Pyodide, and tells how many there are. */
let bytes = 0;
let told = 0;
const plainFetch = self.fetch.bind(self);
self.fetch = async (address, options) => {
  const answer = await plainFetch(address, options);
  if (!answer.ok || !answer.body) return answer;
  const count = new TransformStream({
    transform(chunk, onwards) {
      bytes += chunk.byteLength;
      if (performance.now() > told + FLUSH) {
        told = performance.now();
        postMessage({ bytes });
      }
      onwards.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(count), { status: answer.status, headers: answer.headers });
};

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} is not there`);
  return answer.arrayBuffer();
}

/* A loop that never ends never lets go of this thread: so what it prints is sent by the clock, while it prints. */
const printing = { kind: "out", text: "", length: 0, due: 0 };
function flush() {
  if (printing.text) postMessage({ id, kind: printing.kind, text: printing.text });
  printing.text = "";
  printing.due = performance.now() + FLUSH;
}
function printer(kind) {
  const decoder = new TextDecoder();
  return (chunk) => {
    if (printing.kind !== kind) flush();
    printing.kind = kind;
    const more = decoder.decode(chunk, { stream: true });
    const before = printing.length;
    printing.length += more.length;
    if (printing.length <= CUT) printing.text += more;
    else if (before <= CUT) printing.text += "\n… (the rest is not shown)\n";
    if (performance.now() > printing.due || printing.text.length > 8000) flush();
    return chunk.length;
  };
}

async function boot() {
  const begun = performance.now();
  const [{ loadPyodide }, ...archives] = await Promise.all([
    import(`${place.core}pyodide.mjs`),
    ...place.archives.map(fetched),
  ]);
  const made = await loadPyodide({
    indexURL: place.core,
    stdLibURL: place.library,
    lockFileURL: place.lock,
    packageBaseUrl: place.wheels,
  });
  for (const archive of archives) made.unpackArchive(archive, "zip", { extractDir: "/lib/book" });
  made.runPython("import sys; sys.path.append('/lib/book')");
  made.setStdout({ write: printer("out") });
  made.setStderr({ write: printer("err") });
  made.setStdin({ error: true });
  const { show_by, wanted, run, call } = made.pyimport("runner");
  show_by((kind, text) => {
    flush();
    postMessage({ id, kind, text });
  });
  runner = { wanted, run, call };
  postMessage({ ready: (performance.now() - begun) / 1000, bytes });
  return made;
}

/* Loads the packages that some code imports, each once, and treekit's numeric part with them. Returns the names of those
   that could not be loaded. */
let whole;
async function load(source) {
  const { names, others } = JSON.parse(runner.wanted(source));
  if (others.length) names.push(...others);
  const missing = names.filter((name) => !(name in python.loadedPackages));
  if (!missing.length) return [];
  postMessage({ id, loading: missing });
  const quiet = { messageCallback() {}, errorCallback() {} };
  try {
    await python.loadPackage(missing, quiet);
    if (missing.some((name) => !(name in python.loadedPackages))) throw new Error("packages are missing");
    whole ??= fetched(place.whole).then((archive) => python.unpackArchive(archive, "zip", { extractDir: "/lib/book" }));
    await whole;
    python.runPython("import importlib; importlib.invalidate_caches()"); // new modules have come
  } catch (error) {
    whole = undefined;
    console.info(`${error}`); // the page says it in words
  }
  return missing.filter((name) => !(name in python.loadedPackages));
}

async function finished(task) {
  try {
    return JSON.parse(await task);
  } finally {
    task.destroy();
  }
}

const answers = {
  async run({ source, name, mode }) {
    const missing = await load(source);
    if (missing.length) return { missing };
    return finished(runner.run(source, name, mode));
  },
  async call({ name, values }) {
    return finished(runner.call(name, python.toPy(values)));
  },
  async load({ source }) {
    return { missing: await load(source) };
  },
  async start() {
    return {};
  },
};

async function answer(request) {
  try {
    python ??= await boot();
    id = request.id;
    Object.assign(printing, { kind: "out", text: "", length: 0 });
    const done = await answers[request.do](request);
    flush();
    postMessage({ id, done });
  } catch (error) {
    postMessage({ fatal: error.message ?? `${error}` });
  }
}

let turn = Promise.resolve(); // code that awaits must not let the next request in
addEventListener("message", ({ data }) => {
  place ??= data.place;
  turn = turn.then(() => answer(data));
});
// Pyodide never settles when its WebAssembly does not come.
addEventListener("unhandledrejection", ({ reason }) => postMessage({ fatal: reason?.message ?? `${reason}` }));
