/* Compiles Pyodide's standard library by Pyodide itself, whose bytecode no other Python writes; stdlib.py says how.
   node compile.mjs ARCHIVE writes what a page needs of it; node compile.mjs ARCHIVE WHEELS all of it, and compiles each
   wheel in a folder, too. The working directory holds node_modules. */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, here, archive, wheels] = process.argv;
const core = createRequire(path.resolve("package.json")).resolve("pyodide/pyodide.mjs");
const { loadPyodide } = await import(pathToFileURL(core));
const python = await loadPyodide();
python.runPython(fs.readFileSync(path.join(path.dirname(here), "stdlib.py"), "utf8"));
const packed = python.globals.get("packed");
fs.writeFileSync(archive, packed.callKwargs({ whole: Boolean(wheels) }).toJs());
for (const name of wheels ? fs.readdirSync(wheels) : []) {
  python.FS.writeFile("/tmp/wheel", fs.readFileSync(path.join(wheels, name)));
  fs.writeFileSync(path.join(wheels, name), packed("/tmp/wheel", "/lib/python3.14/site-packages").toJs());
}
process.exit(0); // Pyodide keeps a timer
