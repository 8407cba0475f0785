import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** What the tests need to know of a page of the console: `console/src/app/pages.ts`. */
export interface ListedPage {
  readonly path: string;
  readonly label?: string;
  readonly roles?: readonly string[];
}

const SOURCES = fileURLToPath(new URL('../../console/src', import.meta.url));

/** The pages of a part of the console, as its router and its menu have them: a new page needs no line here. */
export async function listedPages(part: 'portal' | 'array' | 'objects'): Promise<readonly ListedPage[]> {
  const { outputFiles } = await build({
    entryPoints: [`${SOURCES}/${part}/pages.ts`],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    // The pages themselves are loaded when they are opened, and here never.
    plugins: [
      {
        name: 'pages stay out',
        setup(bundler) {
          bundler.onResolve({ filter: /./ }, ({ kind, path }) =>
            kind === 'dynamic-import' ? { path, external: true } : undefined,
          );
        },
      },
    ],
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? '').toString('base64');
  const module = (await import(`data:text/javascript;base64,${code}`)) as Record<string, readonly ListedPage[]>;
  return module[`${part}Pages`] ?? [];
}
