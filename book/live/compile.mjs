/* Compiles Pyodide's standard library by Pyodide itself, whose bytecode no other Python writes; stdlib.py says how.
   node compile.mjs ARCHIVE; the working directory holds node_modules. */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, here, archive] = process.argv;
const core = createRequire(path.resolve("package.json")).resolve("pyodide/pyodide.mjs");
const { loadPyodide } = await import(pathToFileURL(core));
const python = await loadPyodide();
python.runPython(fs.readFileSync(path.join(path.dirname(here), "stdlib.py"), "utf8"));
fs.writeFileSync(archive, python.runPython("packed()").toJs());
process.exit(0); // Pyodide keeps a timer
