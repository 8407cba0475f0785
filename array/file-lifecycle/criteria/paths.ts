import { badParameter } from '@granary/kernel';

/** Where a policy looks: everywhere, or only under some paths; never under others. */
export interface PathLists {
  readonly whitelist: readonly string[] | null;
  readonly blacklist: readonly string[] | null;
}

/** `/a/b`, without a slash at the end. */
export function normalPaths(field: string, paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => normalPath(field, path)))];
}

function normalPath(field: string, path: string): string {
  const names = path.split('/').filter((name) => name !== '');
  if (names.some((name) => name === '.' || name === '..')) {
    throw badParameter(field, `must hold paths from the root of the share, without . and .. (${path})`);
  }
  // Lists are shown joined by commas.
  if (path.includes(',')) throw badParameter(field, `must hold paths without commas (${path})`);
  return `/${names.join('/')}`;
}

export function pathFilter({ whitelist, blacklist }: PathLists): (path: string) => boolean {
  return (path) => {
    if (whitelist && !whitelist.some((folder) => isUnder(path, folder))) return false;
    return !blacklist?.some((folder) => isUnder(path, folder));
  };
}

function isUnder(path: string, folder: string): boolean {
  if (folder === '/') return true;
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}
