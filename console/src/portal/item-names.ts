interface Named {
  readonly key: string;
  readonly name: string;
}

interface NamingCloud {
  readonly engine_types: readonly Named[];
  readonly drive_types: readonly Named[];
  /** Their `name` is the key. */
  readonly app_engines: readonly { readonly name: string }[];
  readonly zones: readonly { readonly allocation_zone_name: string; readonly allocation_zone_disp_name: string }[];
}

/** What people call the thing of this key; the key where it has no name, or clouds give it several. */
export type NameOf = (key: string) => string;

const OBJECT_STORAGE = { key: 'object_storage', name: 'Object storage' };

/** Names for the keys of engines, drives and zones: `engine_small` → `Small`, `SSD_10GB` → `10 GB SSD`. */
export function itemNames(clouds: readonly NamingCloud[]): NameOf {
  const all = [OBJECT_STORAGE, ...clouds.flatMap(namedIn)];
  const byKey = Map.groupBy(all, ({ key }) => key);
  return (key) => {
    const names = new Set(byKey.get(key)?.map(({ name }) => name));
    const [name = key] = names;
    return names.size > 1 ? key : name;
  };
}

function namedIn({ engine_types: engines, drive_types: drives, app_engines: apps, zones }: NamingCloud): Named[] {
  return [
    ...engines,
    ...drives,
    ...apps.map(({ name: key }) => ({ key, name: appEngineName(key) })),
    ...zones.map((zone) => ({ key: zone.allocation_zone_name, name: zone.allocation_zone_disp_name })),
  ];
}

/** `app_small` → `Small`: app engines have no name beside their key. */
export function appEngineName(key: string): string {
  const plain = key.replace(/^app_/, '').replaceAll('_', ' ');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
