import type { Operation } from '@granary/contract';

/** `driveTypes`, `flash_cache_capacity`, `connectVia` → `drive-types`, `flash-cache-capacity`, `connect-via` */
export function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** `arrays set-engine`: what one types after `granary`. */
export function commandName({ group, name }: Operation): string {
  return `${kebab(group)} ${kebab(name)}`;
}

export function optionFlag(param: string): string {
  return `--${kebab(param)}`;
}
