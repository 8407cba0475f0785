import { failureOf } from '../api/last-known.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed, Loading } from './messages.tsx';

/** What a reading answered, once it did; meanwhile that it is on its way, or why it failed. */
export function Reading<T>({
  of: reading,
  children,
}: {
  readonly of: UseQueryResult<T>;
  readonly children: (value: T) => ReactNode;
}) {
  if (reading.isPending) return <Loading />;
  if (reading.data === undefined || failureOf(reading))
    return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  return <>{children(reading.data)}</>;
}
