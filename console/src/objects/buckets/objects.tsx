import { ActionIcon, Anchor, Button, Group, Tooltip } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { failureOf } from '../../api/last-known.ts';
import { useMemo } from 'react';
import { useBase } from '../../app/base.ts';
import { useDraft } from '../../app/drafts.ts';
import { bytes } from '../../parts/format.ts';
import { IconDownload, IconFile, IconFolder } from '../../parts/icons.tsx';
import { Empty, Failed, Loading } from '../../parts/messages.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { fileName, isReachable, nameBelow } from '../s3/paths.ts';
import type { ListedObject } from '../s3/replies.ts';
import { s3Key, useS3 } from '../s3/use.ts';
import { DeleteButton } from './delete.tsx';
import { ObjectDialog } from './object.tsx';

interface Row {
  readonly key: string;
  readonly object: ListedObject | undefined;
}

interface Place {
  readonly bucket: string;
  readonly prefix: string;
}

/** Folders first, then objects; a thousand at a time. */
export function Objects({ bucket, prefix }: Place) {
  const s3 = useS3();
  const listing = useInfiniteQuery({
    queryKey: s3Key(s3, bucket, 'objects', prefix),
    queryFn: ({ pageParam }) => s3.objects(bucket, prefix, pageParam),
    initialPageParam: {},
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(() => rowsOf(listing.data?.pages ?? [], prefix), [listing.data, prefix]);
  const [open, setOpen] = useDraft<string | undefined>('open object', () => undefined);
  const columns = useColumns({ bucket, prefix }, setOpen);
  if (listing.isPending) return <Loading />;
  if (listing.data === undefined || failureOf(listing))
    return <Failed error={listing.error} retry={() => void listing.refetch()} />;
  return (
    <>
      <DataTable
        label="Objects"
        rows={rows}
        columns={columns}
        rowKey={({ key }) => key}
        bulk={(chosen, clear) => (
          <DeleteButton
            bucket={bucket}
            victims={chosen.map(({ key, object }) => ({ key, isFolder: object === undefined }))}
            onDone={clear}
          />
        )}
        tools={
          listing.hasNextPage && (
            <Button
              size="xs"
              variant="default"
              onClick={() => void listing.fetchNextPage()}
              loading={listing.isFetchingNextPage}
            >
              Show more
            </Button>
          )
        }
        empty={
          <Empty title={prefix === '' ? 'The bucket is empty.' : 'Nothing is in this folder.'}>
            Drop files or folders here, or choose them with Upload. Large files go on where they stopped, even after the
            page was closed.
          </Empty>
        }
      />
      {open !== undefined && <ObjectDialog bucket={bucket} objectKey={open} close={() => setOpen(undefined)} />}
    </>
  );
}

function rowsOf(
  pages: readonly { readonly prefixes: readonly string[]; readonly items: readonly ListedObject[] }[],
  prefix: string,
): Row[] {
  const inside = pages.flatMap(({ prefixes }) => prefixes).map((key) => ({ key, object: undefined }));
  // An object of the folder's own name stands for the folder itself.
  const objects = pages.flatMap(({ items }) => items).filter(({ key }) => key !== prefix);
  return [...inside, ...objects.map((object) => ({ key: object.key, object }))];
}

function useColumns({ bucket, prefix }: Place, open: (key: string) => void): readonly Column<Row>[] {
  const base = useBase();
  const s3 = useS3();
  return useMemo(
    () => [
      {
        name: 'name',
        heading: 'Name',
        value: ({ key }) => nameBelow(prefix, key),
        cell: ({ key, object }) =>
          object === undefined ? (
            <Group gap="xs" wrap="nowrap">
              <IconFolder size={16} />
              <Anchor component={Link} to={`${base}/buckets/${bucket}`} search={{ prefix: key } as never}>
                {nameBelow(prefix, key)}
              </Anchor>
            </Group>
          ) : (
            <Group gap="xs" wrap="nowrap">
              <IconFile size={16} />
              <Anchor component="button" type="button" fz="inherit" onClick={() => open(key)}>
                {nameBelow(prefix, key)}
              </Anchor>
            </Group>
          ),
      },
      {
        name: 'size',
        heading: 'Size',
        align: 'right',
        value: ({ object }) => object?.size ?? -1,
        cell: ({ object }) => (object ? bytes(object.size) : ''),
      },
      {
        name: 'modified',
        heading: 'Changed',
        value: ({ object }) => object?.modified,
        cell: ({ object }) => (object ? <Time at={object.modified} /> : ''),
        isExtra: true,
      },
      {
        name: 'class',
        heading: 'Storage class',
        value: ({ object }) => object?.storageClass,
        cell: ({ object }) => object?.storageClass ?? '',
        isExtra: true,
      },
      {
        name: 'actions',
        heading: '',
        align: 'right',
        cell: ({ key, object }) =>
          object &&
          isReachable(key) && (
            <Tooltip label="Download">
              <ActionIcon
                component="a"
                href={s3.url(bucket, key)}
                download={fileName(key)}
                variant="subtle"
                aria-label={`Download ${fileName(key)}`}
              >
                <IconDownload size={16} />
              </ActionIcon>
            </Tooltip>
          ),
      },
    ],
    [base, bucket, prefix, open, s3],
  );
}
