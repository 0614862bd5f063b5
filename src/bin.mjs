#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read, too, so that they get a sentence instead of a syntax error.
import fs from 'fs';
import module from 'module';
import path from 'path';
import { fileURLToPath, pathToFileURL } from 'url';

const NEEDED_MAJOR = 26;

/** The program: the sources in a checkout, the built files in an installed package (Node strips no types below node_modules). */
function program() {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const sources = path.join(here, 'main.ts');
  const built = path.join(here, '..', 'dist', 'main.js');
  const installed = here.split(path.sep).includes('node_modules');
  return fs.existsSync(built) && (installed || !fs.existsSync(sources)) ? built : sources;
}

/** Where Node keeps what came of the sources; where it cannot be written to, nothing is kept. */
function compiled() {
  return path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.cache', 'fraud-connector');
}

const major = Number(process.versions.node.split('.')[0]);
if (major < NEEDED_MAJOR) {
  process.stderr.write(
    `fraud-connector: Node ${process.versions.node} runs here, ${NEEDED_MAJOR} or newer is needed; in a checkout, npm ci brings it and npx fraud-connector uses it.\n`,
  );
  process.exitCode = 2;
} else {
  const file = program();
  // The sources of a checkout would be stripped of their types and compiled at each start: half a second of a core, and
  // half a minute where many share it.
  if (file.endsWith('.ts') && !process.env.NODE_COMPILE_CACHE) module.enableCompileCache(compiled());
  import(pathToFileURL(file).href);
}
