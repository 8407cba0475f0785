import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** The text of each file by its path from the top of the repository. */
type Sources = ReadonlyMap<string, string>;

interface Import {
  readonly from: string;
  readonly to: string;
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** Packages without circles at any depth (`deep`), or among their top-level folders and files (`top`). */
const CHECKED = {
  array: 'deep',
  cli: 'deep',
  client: 'deep',
  cloud: 'top',
  contract: 'deep',
  objects: 'top',
  protocols: 'top',
} as const;

/**
 * Circles among the folders and files that lie directly in one folder, at every depth below `root`. Imports of types
 * count: files whose types name each other can only be read together. Each circle is the list of the imports in it.
 */
export function folderCircles(sources: Sources, root: string, depth: 'deep' | 'top' = 'deep'): Import[][] {
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text)).filter(({ to }) => sources.has(to));
  const folders = depth === 'top' ? [root] : new Set([...sources.keys()].flatMap((file) => foldersOf(file, root)));
  return [...folders].sort().flatMap((folder) => circlesIn(folder, imports));
}

function importsOf(file: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, path = '']) => ({
    from: file,
    to: posix.join(posix.dirname(file), path),
  }));
}

/** `root` and the folders between it and the file. */
function foldersOf(file: string, root: string): string[] {
  if (!file.startsWith(`${root}/`)) return [];
  const parts = posix.dirname(file).split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/')).filter((folder) => folder.length >= root.length);
}

function circlesIn(folder: string, imports: readonly Import[]): Import[][] {
  const inside = imports.flatMap((one) => {
    const [from, to] = [childOf(folder, one.from), childOf(folder, one.to)];
    return from === undefined || to === undefined || from === to ? [] : [{ from, to, one }];
  });
  const graph = Map.groupBy(inside, ({ from }) => from);
  const reach = new Map([...graph.keys()].map((start) => [start, reachable(start, graph)]));
  const isInCircle = ({ from, to }: Import) => reach.get(to)?.has(from) === true;
  const circles = Map.groupBy(inside.filter(isInCircle), ({ from }) =>
    [...(reach.get(from) ?? [])]
      .filter((other) => reach.get(other)?.has(from))
      .sort()
      .join(' '),
  );
  return [...circles.values()].map((edges) => edges.map(({ one }) => one));
}

/** The folder or file directly in `folder` that `file` is or is below. */
function childOf(folder: string, file: string): string | undefined {
  if (!file.startsWith(`${folder}/`)) return undefined;
  return file.slice(folder.length + 1).split('/')[0];
}

function reachable(start: string, graph: ReadonlyMap<string, readonly Import[]>): Set<string> {
  const seen = new Set<string>();
  const waiting = [start];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { to } of graph.get(next) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      waiting.push(to);
    }
  }
  return seen;
}

function main(): void {
  const exclude = ['**/node_modules/**', '**/*.test.ts', '**/testing/**'];
  for (const [root, depth] of Object.entries(CHECKED)) {
    const files = globSync(`${root}/**/*.ts`, { exclude });
    const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
    for (const circle of folderCircles(sources, root, depth)) {
      process.exitCode = 1;
      const lines = circle.map(({ from, to }) => `  ${from} → ${to}`);
      process.stdout.write(`Folders or files that import each other:\n${lines.join('\n')}\n`);
    }
  }
}

if (import.meta.main) main();
