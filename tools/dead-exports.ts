import { globSync, readFileSync } from 'node:fs';

/**
 * Values that a file exports and no other file mentions: they should be private, or removed. Types are left out: they name
 * what exported functions take and give. So are the packages' own fronts.
 */
const files = globSync('**/*.{ts,tsx}', { exclude: ['node_modules/**', 'granary-data/**', 'build/**'] });
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const EXPORT = /^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm;

/** In how many files each word stands. */
const mentions = new Map<string, number>();
for (const text of texts.values()) {
  for (const word of new Set(text.match(/\b\w+\b/g))) mentions.set(word, (mentions.get(word) ?? 0) + 1);
}

const rooms = [...texts].filter(([file]) => !file.endsWith('/index.ts'));
const dead = rooms.flatMap(([file, text]) =>
  [...text.matchAll(EXPORT)]
    .map((match) => match[1] as string)
    .filter((name) => mentions.get(name) === 1)
    .map((name) => `${file}: ${name}`),
);

if (dead.length > 0) {
  process.stdout.write(`Exported, but used in their own file only:\n${dead.map((line) => `  ${line}`).join('\n')}\n`);
  process.exitCode = 1;
}
