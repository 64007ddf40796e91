// Builds the scripts and the style of the console's pages: `node build.js [FOLDER]`.
// Two builds give the same bytes. Names are plain: the URL of each file carries a hash of all files.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../src/nacre/console/static");
const entries = ["console.js", "charts.js", "editor.js", "log.js", "login.js", "theme.js", "console.css"];
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
  // Loaded when a page needs them.
  external: ["./charts.js", "./editor.js", "./log.js"],
  alias: { "style-mod": join(here, "src/styles.js") },
  metafile: true,
  write: false,
});

// The licence of every package of which code is in a bundle.
function packages(metafile) {
  const names = new Set();
  for (const output of Object.values(metafile.outputs)) {
    for (const path of Object.keys(output.inputs)) {
      const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
      if (found) names.add(found[1]);
    }
  }
  return [...names].sort();
}

function licence(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).sort().find((entry) => /^licen[sc]e/i.test(entry));
  if (!file) throw new Error(`${name} comes without the text of its licence`);
  const text = readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const { path, contents } of result.outputFiles) {
  writeFileSync(join(target, path.slice(path.lastIndexOf("/") + 1)), contents);
}
for (const name of copies) copyFileSync(join(here, "src", name), join(target, name));
const line = `\n${"-".repeat(72)}\n\n`;
const head = "The scripts and the style of the console contain code of these packages.\n";
writeFileSync(
  join(target, "LICENSES.txt"),
  [head, ...packages(result.metafile).map(licence)].join(line),
);
