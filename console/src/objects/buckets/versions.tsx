import { ActionIcon, Anchor, Button, Group, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery } from '@tanstack/react-query';
import { failureOf } from '../../api/last-known.ts';
import { useMemo } from 'react';
import { useDraft } from '../../app/drafts.ts';
import { bytes } from '../../parts/format.ts';
import { IconDownload } from '../../parts/icons.tsx';
import { Empty, Failed, Loading, wordsOf } from '../../parts/messages.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { Tag } from '../../parts/tag.tsx';
import { fileName, isReachable, nameBelow } from '../s3/paths.ts';
import { versionWords } from '../s3/object-facts.ts';
import type { Version } from '../s3/replies.ts';
import { s3Key, useS3, useS3Act } from '../s3/use.ts';
import { DeleteButton } from './delete.tsx';
import { ObjectDialog } from './object.tsx';

interface VersionsProps {
  readonly bucket: string;
  readonly prefix: string;
}

/** Every version below a prefix, whatever folder it is in: what was overwritten or deleted can be restored. */
export function Versions({ bucket, prefix }: VersionsProps) {
  const s3 = useS3();
  const listing = useInfiniteQuery({
    queryKey: s3Key(s3, bucket, 'versions', prefix),
    queryFn: ({ pageParam }) => s3.versions(bucket, prefix, pageParam, true),
    initialPageParam: {},
    getNextPageParam: ({ next }) => next,
  });
  const [open, setOpen] = useDraft<Version | undefined>('open version', () => undefined);
  const columns = useColumns(bucket, prefix, setOpen);
  const rows = useMemo(() => listing.data?.pages.flatMap(({ items }) => items) ?? [], [listing.data]);
  if (listing.isPending) return <Loading />;
  if (listing.data === undefined || failureOf(listing))
    return <Failed error={listing.error} retry={() => void listing.refetch()} />;
  return (
    <>
      <DataTable
        label="Versions"
        rows={rows}
        columns={columns}
        rowKey={({ key, versionId }) => `${key} ${versionId}`}
        bulk={(chosen, clear) => <DeleteButton bucket={bucket} victims={chosen} onDone={clear} />}
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
          <Empty title="There are no versions here.">
            Old versions are kept from the moment versioning is on: see Settings.
          </Empty>
        }
      />
      {open && (
        <ObjectDialog
          bucket={bucket}
          objectKey={open.key}
          versionId={open.versionId}
          close={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

function useColumns(bucket: string, prefix: string, open: (version: Version) => void): readonly Column<Version>[] {
  return useMemo(
    () => [
      {
        name: 'key',
        heading: 'Name',
        value: ({ key }) => nameBelow(prefix, key) || key,
        cell: (version) => {
          const name = nameBelow(prefix, version.key) || fileName(version.key);
          if (version.isMarker) return name;
          return (
            <Anchor component="button" type="button" fz="inherit" onClick={() => open(version)}>
              {name}
            </Anchor>
          );
        },
      },
      {
        name: 'state',
        heading: 'State',
        value: (version) => stateOf(version),
        cell: (version) => (
          <Tag tone={version.isMarker ? 'red' : version.isLatest ? 'teal' : 'gray'}>{stateOf(version)}</Tag>
        ),
      },
      {
        name: 'size',
        heading: 'Size',
        align: 'right',
        value: ({ size }) => size,
        cell: ({ size, isMarker }) => (isMarker ? '' : bytes(size)),
      },
      {
        name: 'modified',
        heading: 'Written',
        value: ({ modified }) => modified,
        cell: ({ modified }) => <Time at={modified} />,
      },
      {
        name: 'version',
        heading: 'Version',
        value: ({ versionId }) => versionWords(versionId),
        cell: ({ versionId }) => versionWords(versionId),
        isExtra: true,
      },
      {
        name: 'actions',
        heading: '',
        align: 'right',
        cell: (version) => <VersionActions bucket={bucket} version={version} />,
      },
    ],
    [bucket, prefix, open],
  );
}

function stateOf({ isMarker, isLatest }: Version): string {
  if (isMarker) return isLatest ? 'deleted' : 'deleted before';
  return isLatest ? 'present' : 'old';
}

/** A marker is taken away to bring back what it hides; an old version is copied to the front. */
function VersionActions({ bucket, version }: { readonly bucket: string; readonly version: Version }) {
  const { key, versionId, isMarker, isLatest } = version;
  const s3 = useS3();
  const restoring = useS3Act(bucket, async (at, _: null) => {
    if (!isMarker) return at.copy(bucket, key, versionId);
    await at.delete(bucket, [{ key, versionId }], ([result]) => {
      if (result?.problem !== undefined) throw new Error(result.problem);
    });
  });
  const restore = () =>
    restoring.mutate(null, {
      onSuccess: () => notifications.show({ color: 'teal', message: `${key} is restored.` }),
      onError: (error) => notifications.show({ color: 'red', message: wordsOf(error).title }),
    });
  const mayRestore = isMarker ? isLatest : !isLatest;
  if (!isReachable(key)) return null;
  return (
    <Group gap="xs" wrap="nowrap" justify="flex-end">
      {mayRestore && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={restore}
          loading={restoring.isPending}
          aria-label={`Restore ${key} ${versionWords(versionId)}`}
        >
          Restore
        </Button>
      )}
      {!isMarker && (
        <Tooltip label="Download this version">
          <ActionIcon
            component="a"
            href={s3.url(bucket, key, versionId)}
            download={fileName(key)}
            variant="subtle"
            aria-label={`Download ${fileName(key)} ${versionWords(versionId)}`}
          >
            <IconDownload size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}
