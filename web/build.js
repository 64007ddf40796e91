// Builds the scripts and the style of the console's pages: `node build.js [FOLDER]`.
// Two builds give the same bytes. Names are plain: the URL of each file carries a hash of all files.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../src/nacre/console/static");
const entries = ["console.js", "login.js", "theme.js", "console.css"];
const copies = ["icon.svg"];

const result = await build({
  absWorkingDir: here,
  entryPoints: entries.map((name) => join("src", name)),
  outdir: "out",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  charset: "utf8",
  legalComments: "none",
  write: false,
});

mkdirSync(target, { recursive: true });
for (const { path, contents } of result.outputFiles) writeFileSync(join(target, basename(path)), contents);
for (const name of copies) copyFileSync(join(here, "src", name), join(target, name));
