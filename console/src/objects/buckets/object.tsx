import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { failureOf } from '../../api/last-known.ts';
import { useBase } from '../../app/base.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { bytes, words } from '../../parts/format.ts';
import { IconDownload } from '../../parts/icons.tsx';
import { Failed, Loading } from '../../parts/messages.tsx';
import { Facts, Time } from '../../parts/small.tsx';
import { versionWords } from '../s3/object-facts.ts';
import { fileName, isReachable } from '../s3/paths.ts';
import { readXml } from '../s3/replies.ts';
import { bucketLockOf } from '../s3/settings-read.ts';
import { s3Key, useS3 } from '../s3/use.ts';
import { DeleteButton } from './delete.tsx';
import { VersionLock } from './object-lock.tsx';
import { ShareLink } from './share.tsx';
import { Tags } from './tags.tsx';

interface ObjectDialogProps {
  readonly bucket: string;
  readonly objectKey: string;
  /** The present version where it is left out. */
  readonly versionId?: string;
  readonly close: () => void;
}

/** What is known of one object, and what can be done with it. */
export function ObjectDialog({ bucket, objectKey: key, versionId, close }: ObjectDialogProps) {
  return (
    <Dialog opened onClose={close} title={fileName(key)} size="lg">
      {isReachable(key) ? (
        <ObjectParts bucket={bucket} objectKey={key} {...(versionId !== undefined && { versionId })} close={close} />
      ) : (
        <Text size="sm">A browser cannot name {key} in an address: use a program that speaks S3 for it.</Text>
      )}
    </Dialog>
  );
}

function ObjectParts({ bucket, objectKey: key, versionId, close }: ObjectDialogProps) {
  const s3 = useS3();
  const base = useBase();
  const head = useQuery({
    queryKey: s3Key(s3, bucket, 'head', key, versionId ?? ''),
    queryFn: () => s3.head(bucket, key, versionId),
    // A replication ends without anybody's doing.
    refetchInterval: ({ state }) => (isBeingReplicated(state.data) ? REPLICATION_MS : false),
  });
  return (
    <Stack>
      {head.isPending && <Loading />}
      {failureOf(head) !== null && <Failed error={head.error} />}
      {head.data && <Facts of={[['Key', key], ...head.data.map(factOf)]} />}
      {head.data && versionId === undefined && <ShareLink bucket={bucket} objectKey={key} />}
      {head.data && <ObjectTags bucket={bucket} objectKey={key} versionId={versionId} />}
      {head.data && <Lock bucket={bucket} objectKey={key} versionId={versionId} head={head.data} />}
      <Group>
        {head.data && (
          <Button
            component="a"
            href={s3.url(bucket, key, versionId)}
            download={fileName(key)}
            leftSection={<IconDownload size={16} />}
          >
            Download
          </Button>
        )}
        {versionId === undefined && (
          <Button
            variant="default"
            component={Link}
            to={`${base}/buckets/${bucket}`}
            search={{ prefix: key, shown: 'versions' } as never}
            onClick={close}
          >
            Its versions
          </Button>
        )}
        <DeleteButton bucket={bucket} victims={[{ key, versionId }]} onDone={close} />
      </Group>
    </Stack>
  );
}

const REPLICATION_MS = 2_000;

type Head = readonly (readonly [string, string])[];

function isBeingReplicated(head: Head | undefined): boolean {
  return head?.some(([name, value]) => name === 'x-amz-replication-status' && value === 'PENDING') ?? false;
}

const REPLICATION: Readonly<Record<string, string>> = {
  PENDING: 'on its way',
  COMPLETED: 'is at the remote endpoint',
  FAILED: 'failed; the administrator of the array sees why in its events',
  REPLICA: 'this is a copy from another place',
};

function factOf([name, value]: readonly [string, string]) {
  const label = words(name.replace(/^x-amz-(?:meta-)?/, name.startsWith('x-amz-meta-') ? 'own: ' : ''));
  if (name === 'content-length') return ['Size', `${bytes(Number(value))} (${value} bytes)`] as const;
  if (name === 'last-modified') return [label, <Time key={name} at={new Date(value).getTime() / 1000} />] as const;
  if (name === 'x-amz-version-id') return [label, versionWords(value)] as const;
  if (name === 'x-amz-replication-status') return ['Replication', REPLICATION[value] ?? value] as const;
  return [label, value] as const;
}

interface VersionProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly versionId: string | undefined;
}

function ObjectTags({ bucket, objectKey: key, versionId }: VersionProps) {
  return (
    <Stack gap="xs" component="section" aria-label="Tags">
      <Text size="sm" fw={500}>
        Tags
      </Text>
      <Tags bucket={bucket} of={{ key, versionId }} />
    </Stack>
  );
}

/** Only where the bucket has an object lock. */
function Lock({ head, ...of }: VersionProps & { readonly head: Head }) {
  const s3 = useS3();
  const { bucket } = of;
  const lock = useQuery({
    queryKey: s3Key(s3, bucket, 'object-lock'),
    queryFn: () => s3.setting(bucket, 'object-lock'),
  });
  const document = lock.data?.document ?? null;
  if (document === null || !bucketLockOf(readXml(document)).isLockable) return null;
  const isHeld = head.some(([name, value]) => name === 'x-amz-object-lock-legal-hold' && value === 'ON');
  return <VersionLock {...of} isHeld={isHeld} />;
}
