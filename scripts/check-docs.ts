// Fails when a page links to a missing file or heading, or names a path that is not in the repository.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { root } from "./project.mjs";

const pages = globSync(["*.md", "{docs,src,bench,test,ui}/**/*.md"], { cwd: root })
  .filter((path) => !path.includes("node_modules"))
  .map((path) => join(root, path));
const problems = pages.flatMap((page) => {
  const text = readFileSync(page, "utf8");
  return [...brokenLinks(page, text), ...missingPaths(page, text)].map((what) => `${relative(root, page)}: ${what}`);
});
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exitCode = 1;
}

function brokenLinks(page: string, text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = "", anchor] = link.split("#");
    const file = path === "" ? page : join(dirname(page), path);
    if (!existsSync(file)) return [`the link ${link} does not resolve to a file`];
    if (anchor === undefined || !file.endsWith(".md")) return [];
    return headingsOf(readFileSync(file, "utf8")).includes(anchor) ? [] : [`the link ${link} does not match a heading`];
  });
}

/**
 * Checks paths from the root or the page, and bare file names in the README of a source folder. The changelog may name
 * old files.
 */
function missingPaths(page: string, text: string): string[] {
  if (page.endsWith("CHANGELOG.md")) return [];
  const isFolderReadme = relative(root, page).startsWith("src/");
  return [...text.matchAll(/`([A-Za-z0-9_./*{},-]+)`/g)].flatMap(([, path = ""]) => {
    if (/^(?:src|test|scripts|bench|docs|ui)\/[^`]*$/.test(path))
      return exists(root, path) || exists(dirname(page), path) ? [] : [`no file ${path}`];
    if (!isFolderReadme || !/^[a-z][^ ]*\.ts$/.test(path)) return [];
    return exists(dirname(page), path) ? [] : [`no file ${path} in this folder`];
  });
}

function exists(folder: string, pattern: string): boolean {
  return existsSync(join(folder, pattern)) || globSync(pattern, { cwd: folder }).length > 0;
}

/** Makes anchors as GitHub does: lower case, no punctuation, dashes for spaces. */
function headingsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "");
}
