import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { stripTypeScriptTypes } from 'node:module';

/**
 * Packages as they are published: plain JavaScript, because Node runs TypeScript nowhere below `node_modules`. Types are
 * stripped in place, so a stack trace names the line of the source. Folders of the workspace stand beside each other in
 * the package; where one imports another by name, the copy imports it by path.
 */
export const ROOT = join(import.meta.dirname, '../..');

const SPECIFIER =
  /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\bimport\.meta\.resolve\(\s*|\bnew URL\(\s*)(['"])([^'"\n]+)\2/g;

export interface Manifest {
  readonly version: string;
  readonly description?: string;
  readonly license: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
}

const NOT_PACKED = [
  '**/*.test.ts',
  '**/testing/**',
  '**/node_modules/**',
  '**/*.md',
  '**/*.tsv',
  '**/assembly/**',
  // The console is packed as it is built.
  'console/src/**',
  'console/dist*/**',
];

/** What a workspace needs at run time: all but tests, what tests share, and texts about the source. */
export function filesOf(folder: string): string[] {
  return globSync(`${folder}/**/*.*`, { cwd: ROOT, exclude: NOT_PACKED }).sort();
}

export function toJavaScript(file: string, source: string): string {
  return rewritten(file, file.endsWith('.ts') ? stripTypeScriptTypes(source) : source);
}

/** Imports of `.ts` files and of workspaces by name become paths to `.js` files. */
export function rewritten(file: string, source: string): string {
  return source.replace(SPECIFIER, (whole, before: string, quote: string, specifier: string) => {
    const target = targetOf(file, specifier);
    return target === undefined ? whole : `${before}${quote}${target}${quote}`;
  });
}

function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('./') || specifier.startsWith('../')) {
    return specifier.endsWith('.ts') ? specifier.replace(/\.ts$/, '.js') : undefined;
  }
  const [, folder, entry = ''] = /^@granary\/([^/]+)(\/.+)?$/.exec(specifier) ?? [];
  if (folder === undefined) return undefined;
  const exported = manifestOf(folder).exports?.[`.${entry}`];
  if (exported === undefined) throw new Error(`${file} imports ${specifier}, which is not exported`);
  const path = posix.relative(dirname(file), posix.join(folder, exported)).replace(/\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
}
