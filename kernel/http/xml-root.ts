import type { Api, Operation } from '@granary/contract';
import { singular } from './xml-writer.ts';

/** The portal's root is `<hash>`; arrays and object storage name theirs after the operation. */
export function xmlRoot(api: Api, { group, name }: Operation): string {
  if (api.dialect === 'portal') return 'hash';
  const many = underscored(group);
  const verb = underscored(name);
  if (verb === 'get') return `show_${singular(many)}_response`;
  if (verb.startsWith('list')) return `show${verb.slice('list'.length)}_${many}_response`;
  return `${verb}_${singular(many)}_response`;
}

function underscored(camel: string): string {
  return camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
