import { Text } from '@mantine/core';
import { Fill } from '../../parts/small.tsx';
import type { Pool } from '../records.ts';
import { roomWords } from './room.ts';

/** What volumes may grow to, of what the pool has: more than all of it where the pool is overcommitted. */
export function Provisioned({ pool }: { readonly pool: Pool }) {
  return <Fill used={pool.provisioned_capacity} size={pool.capacity} mayBeFull />;
}

/** Below a form that gives a volume its size. */
export function RoomHint(props: {
  readonly size: unknown;
  readonly pool: Pool | undefined;
  readonly unwritten?: number;
}) {
  const words = roomWords(props.size, props.pool, props.unwritten);
  return words === undefined ? null : (
    <Text size="sm" role="status">
      {words}
    </Text>
  );
}
