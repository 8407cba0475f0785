import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useBase } from '../../app/base.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { bytes, words } from '../../parts/format.ts';
import { IconDownload } from '../../parts/icons.tsx';
import { Failed, Loading } from '../../parts/messages.tsx';
import { Facts, Time } from '../../parts/small.tsx';
import { fileName } from '../s3/paths.ts';
import { s3Key, useS3 } from '../s3/use.ts';
import { DeleteButton } from './delete.tsx';
import { ShareLink } from './share.tsx';

interface ObjectDialogProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly close: () => void;
}

/** What is known of one object, and what can be done with it. */
export function ObjectDialog({ bucket, objectKey: key, close }: ObjectDialogProps) {
  const s3 = useS3();
  const base = useBase();
  const head = useQuery({ queryKey: s3Key(s3, bucket, 'head', key), queryFn: () => s3.head(bucket, key) });
  return (
    <Dialog opened onClose={close} title={fileName(key)} size="lg">
      <Stack>
        {head.isPending && <Loading />}
        {head.isError && <Failed error={head.error} />}
        {head.data && <Facts of={[['Key', key], ...head.data.map(factOf)]} />}
        {head.data && <ShareLink bucket={bucket} objectKey={key} />}
        <Group>
          {head.data && (
            <Button
              component="a"
              href={s3.url(bucket, key)}
              download={fileName(key)}
              leftSection={<IconDownload size={16} />}
            >
              Download
            </Button>
          )}
          <Button
            variant="default"
            component={Link}
            to={`${base}/buckets/${bucket}`}
            search={{ prefix: key, shown: 'versions' } as never}
            onClick={close}
          >
            Its versions
          </Button>
          <DeleteButton bucket={bucket} victims={[{ key }]} onDone={close} />
        </Group>
      </Stack>
    </Dialog>
  );
}

function factOf([name, value]: readonly [string, string]) {
  const label = words(name.replace(/^x-amz-(?:meta-)?/, name.startsWith('x-amz-meta-') ? 'own: ' : ''));
  if (name === 'content-length') return ['Size', `${bytes(Number(value))} (${value} bytes)`] as const;
  if (name === 'last-modified') return [label, <Time key={name} at={new Date(value).getTime() / 1000} />] as const;
  return [label, value] as const;
}
