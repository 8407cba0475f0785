import { Alert, Anchor, Breadcrumbs, Button, FileButton, Group, SegmentedControl, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useAddressText, useBase, useParam } from '../../app/base.ts';
import { IconGear, IconUpload } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/messages.tsx';
import { folders } from '../s3/paths.ts';
import { uploadQueue } from '../s3/queue.ts';
import { s3Key, useS3 } from '../s3/use.ts';
import { droppedFiles, type Chosen } from './dropped.ts';
import { Objects } from './objects.tsx';
import { Uploads } from './uploads.tsx';
import { Versions } from './versions.tsx';

/** Of many small files some end each moment: the list is not read again for each. */
const READ_AGAIN_MS = 500;

/** What a bucket holds: folders, objects and their versions. */
export default function BucketBrowser() {
  const bucket = useParam('bucket');
  const [prefix] = useAddressText('prefix');
  const [shown, setShown] = useAddressText('shown');
  const base = useBase();
  const upload = useUpload(bucket, prefix);
  const isOver = useDropping(upload);
  const resetChoice = useRef<() => void>(null);
  const choose = (files: readonly File[]) => {
    upload(files.map((file) => ({ path: file.name, file })));
    // Or the browser would not tell when the same file is chosen again.
    resetChoice.current?.();
  };
  return (
    <>
      <PageHead title={bucket} about={<Way bucket={bucket} prefix={prefix} />}>
        <SegmentedControl
          size="xs"
          aria-label="What is shown"
          value={shown}
          onChange={setShown}
          data={[
            { value: '', label: 'Objects' },
            { value: 'versions', label: 'Versions' },
          ]}
        />
        <Button
          component={Link}
          to={`${base}/buckets/${bucket}/settings`}
          variant="default"
          leftSection={<IconGear size={16} />}
        >
          Settings
        </Button>
        <FileButton multiple resetRef={resetChoice} onChange={choose}>
          {(props) => (
            <Button {...props} leftSection={<IconUpload size={16} />}>
              Upload
            </Button>
          )}
        </FileButton>
      </PageHead>
      {isOver && (
        <Alert color="teal" mb="md">
          Let go to upload into {prefix === '' ? bucket : prefix}
        </Alert>
      )}
      <Uploads bucket={bucket} />
      {shown === 'versions' ? (
        <Versions key={prefix} bucket={bucket} prefix={prefix} />
      ) : (
        <Objects key={prefix} bucket={bucket} prefix={prefix} />
      )}
    </>
  );
}

function useUpload(bucket: string, prefix: string): (files: readonly Chosen[]) => void {
  const s3 = useS3();
  const client = useQueryClient();
  useEffect(() => {
    let timer: number | undefined;
    const readAgain = () => {
      timer = undefined;
      void client.invalidateQueries({ queryKey: s3Key(s3, bucket) });
    };
    const stop = uploadQueue.whenDone(() => {
      timer ??= window.setTimeout(readAgain, READ_AGAIN_MS);
    });
    return () => {
      stop();
      if (timer === undefined) return;
      window.clearTimeout(timer);
      readAgain();
    };
  }, [client, s3, bucket]);
  return (files) =>
    uploadQueue.add(
      s3,
      bucket,
      files.map(({ path, file }) => ({ key: `${prefix}${path}`, file })),
    );
}

/** Anywhere on the page: what is dropped beside the list would replace the page with the file. */
function useDropping(upload: (files: readonly Chosen[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const uploadNow = useRef(upload);
  uploadNow.current = upload;
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    document.addEventListener('dragover', (event) => ifFiles(event, () => setOver(true)), { signal });
    document.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && setOver(false), { signal });
    document.addEventListener(
      'drop',
      (event) =>
        ifFiles(event, (transfer) => {
          setOver(false);
          void droppedFiles(transfer).then(
            (files) => uploadNow.current(files),
            () => notifications.show({ color: 'red', message: 'The browser could not read what was dropped.' }),
          );
        }),
      { signal },
    );
    return () => listening.abort();
  }, []);
  return isOver;
}

/** Text that is dragged within the page is left alone. */
function ifFiles(event: DragEvent, handle: (transfer: DataTransfer) => void): void {
  const { dataTransfer } = event;
  if (!dataTransfer?.types.includes('Files')) return;
  event.preventDefault();
  handle(dataTransfer);
}

function Way({ bucket, prefix }: { readonly bucket: string; readonly prefix: string }) {
  const base = useBase();
  const to = `${base}/buckets/${bucket}`;
  const way = folders(prefix);
  return (
    <Group component="nav" aria-label="Folders" gap="xs">
      <Breadcrumbs>
        <Anchor component={Link} to={`${base}/buckets`} size="sm">
          Buckets
        </Anchor>
        <Anchor component={Link} to={to} search={{} as never} size="sm">
          {bucket}
        </Anchor>
        {way.slice(0, -1).map((folder) => (
          <Anchor key={folder.prefix} component={Link} to={to} search={{ prefix: folder.prefix } as never} size="sm">
            {folder.name}
          </Anchor>
        ))}
        {way.length > 0 && <Text size="sm">{way.at(-1)?.name}</Text>}
      </Breadcrumbs>
    </Group>
  );
}
