import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const HERE = import.meta.dirname;
const SOURCES = join(HERE, 'src');
const DIST = join(HERE, 'dist');

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The folder of the built console. Builds it where its sources have changed since; an installed package has no sources. */
export async function builtConsole(): Promise<string> {
  if (!existsSync(SOURCES)) return DIST;
  const stamp = stampOf([SOURCES, join(HERE, '..', 'contract'), join(HERE, '..', 'client')]);
  const stampFile = join(DIST, 'stamp');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return DIST;
  await build(stamp);
  return DIST;
}

/** Written beside, then put in place whole: another process may be serving from the folder, or building, too. */
async function build(stamp: string): Promise<void> {
  const beside = `${DIST}.${process.pid}`;
  const assets = join(beside, 'assets');
  mkdirSync(assets, { recursive: true });
  try {
    const entries = await bundle(assets);
    for (const name of readdirSync(assets)) pack(join(assets, name));
    const page = pageOf(entries);
    const listed = readdirSync(assets).filter((name) => !/\.(?:gz|br)$/.test(name));
    const named = listed.map((name) => [name, { type: typeOf(name) }] as const);
    writeFileSync(join(beside, 'manifest.json'), JSON.stringify({ page, assets: Object.fromEntries(named) }));
    writeFileSync(join(beside, 'stamp'), stamp);
    putInPlace(beside);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/** Files of the build before stay, so that a page that is open still finds the parts it has not loaded; older ones go. */
function putInPlace(beside: string): void {
  const kept = new Set([...assetsOf(DIST), ...assetsOf(beside)].flatMap((name) => [name, `${name}.gz`, `${name}.br`]));
  mkdirSync(DIST, { recursive: true });
  cpSync(join(beside, 'assets'), join(DIST, 'assets'), { recursive: true });
  for (const name of ['manifest.json', 'stamp']) renameSync(join(beside, name), join(DIST, name));
  for (const name of readdirSync(join(DIST, 'assets'))) {
    if (!kept.has(name)) rmSync(join(DIST, 'assets', name), { force: true });
  }
}

function assetsOf(folder: string): string[] {
  const file = join(folder, 'manifest.json');
  if (!existsSync(file)) return [];
  const { assets } = JSON.parse(readFileSync(file, 'utf8')) as { readonly assets: Readonly<Record<string, unknown>> };
  return Object.keys(assets);
}

interface Entries {
  readonly script: string;
  readonly feed: string;
  readonly styles: readonly string[];
}

async function bundle(outdir: string): Promise<Entries> {
  const esbuild = await import('esbuild');
  const { metafile } = await esbuild.build({
    entryPoints: { console: join(SOURCES, 'main.tsx'), feed: join(SOURCES, 'api/feed/worker.ts') },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    minify: true,
    metafile: true,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'warning',
  });
  // Its process would stay beside the service for good.
  await esbuild.stop();
  const outputs = Object.entries(metafile.outputs);
  const builtOf = (source: string) => outputs.find(([, { entryPoint }]) => entryPoint?.endsWith(source)) ?? [];
  const [script, output] = builtOf('src/main.tsx');
  const [feed] = builtOf('src/api/feed/worker.ts');
  if (script === undefined || feed === undefined) throw new Error('The build of the console has no entry.');
  const nameOf = (path: string) => path.split('/').pop() ?? path;
  return {
    script: nameOf(script),
    feed: nameOf(feed),
    styles: output?.cssBundle === undefined ? [] : [nameOf(output.cssBundle)],
  };
}

function typeOf(name: string): string {
  return TYPES[name.split('.').pop() ?? ''] ?? 'application/octet-stream';
}

function pack(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
}

function pageOf({ script, feed, styles }: Entries): string {
  const links = styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`).join('');
  return readFileSync(join(SOURCES, 'page.html'), 'utf8')
    .replace('<!-- styles -->', links)
    .replace('<!-- feed -->', `/assets/${feed}`)
    .replace('<!-- script -->', `<script type="module" src="/assets/${script}"></script>`);
}

/** Changes with any source, and with the bundler. */
function stampOf(folders: readonly string[]): string {
  const hash = createHash('sha256');
  const { version } = createRequire(import.meta.url)('esbuild/package.json') as { version: string };
  hash.update(version);
  for (const folder of folders) {
    for (const name of readdirSync(folder, { recursive: true }) as string[]) {
      const file = join(folder, name);
      if (!/\.(?:tsx?|css|html|svg)$/.test(name) || /\.test\.tsx?$/.test(name) || name.includes('node_modules'))
        continue;
      const { size, mtimeMs } = statSync(file);
      hash.update(`\0${relative(HERE, file)}\0${size}\0${mtimeMs}`);
    }
  }
  return hash.digest('hex');
}

if (import.meta.main) process.stdout.write(`${await builtConsole()}\n`);
