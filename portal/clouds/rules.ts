import { counted } from '@granary/contract';
import { fail, type Db } from '@granary/kernel';
import type { Cloud } from './cloud.ts';
import * as repository from './repository.ts';

export function refuseTaken(db: Db, name: string, uuid: string, self?: number): void {
  const byName = repository.findCloudByName(db, name);
  if (byName && byName.id !== self) throw fail('name_taken', { name });
  const byUuid = repository.findCloudByUuid(db, uuid);
  if (byUuid && byUuid.id !== self)
    throw fail('in_use', { kind: 'The cloud at', id: 'that address', by: `it is registered as ${byUuid.name}` });
}

/** Its arrays would be looked for where they are not. */
export function refuseExchange({ name, uuid }: Cloud, uuidThere: string, countArrays: () => number): void {
  const count = uuid === uuidThere ? 0 : countArrays();
  if (count === 0) return;
  const by = `it hosts ${counted(count, 'arrays')}; at that address is another cloud, to be registered by itself`;
  throw fail('in_use', { kind: 'Cloud', id: name, by });
}
