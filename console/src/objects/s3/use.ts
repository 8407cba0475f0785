import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { usePlace } from '../../api/places.tsx';
import { useIdentity } from '../../app/identity.tsx';
import { S3 } from './client.ts';

export function useS3(): S3 {
  const { base } = usePlace('objects');
  const { accountId = '', username = '' } = useIdentity('objects') ?? {};
  return useMemo(() => new S3({ base }, `${accountId} ${username}`), [base, accountId, username]);
}

/** Keys of what is read over S3; the change feed knows nothing of objects. */
export function s3Key(s3: S3, ...rest: readonly unknown[]) {
  return [s3.base, 's3', ...rest] as const;
}

/** Something that changes a bucket; what is shown of it is read again. */
export function useS3Act<I, O>(bucket: string | undefined, work: (s3: S3, input: I) => Promise<O>) {
  const s3 = useS3();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: I) => work(s3, input),
    onSettled: () => client.invalidateQueries({ queryKey: s3Key(s3, ...(bucket === undefined ? [] : [bucket])) }),
  });
}
