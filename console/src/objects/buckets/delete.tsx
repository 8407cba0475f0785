import { Alert, Button, Group, List, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { IconTrash } from '../../parts/icons.tsx';
import { Failed } from '../../parts/messages.tsx';
import type { S3 } from '../s3/client.ts';
import type { Victim } from '../s3/documents.ts';
import type { Query } from '../s3/paths.ts';
import { readXml, textIn, type Deleted } from '../s3/replies.ts';
import { s3Key, useS3 } from '../s3/use.ts';
import { whatStays } from './versioning.ts';

interface Chosen extends Victim {
  readonly isFolder?: boolean;
}

interface DeleteProps {
  readonly bucket: string;
  readonly victims: readonly Chosen[];
  readonly onDone: () => void;
}

const PROBLEMS_SHOWN = 100;

/** Deletes objects, and all that is in folders, with what came of each. */
export function DeleteButton(props: DeleteProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconTrash size={14} />} onClick={() => setOpen(true)}>
        Delete
      </Button>
      {isOpen && <DeleteDialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

function DeleteDialog({ bucket, victims, onDone, close }: DeleteProps & { readonly close: () => void }) {
  const s3 = useS3();
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const [results, setResults] = useState<readonly Deleted[]>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const versioning = useVersioning(bucket);
  const isLeft = useRef(false);
  // A dialog that was closed shows no results: nothing more is deleted.
  useEffect(() => () => void (isLeft.current = true), []);
  // Not before: the rows that were chosen would go, and with them what came of each.
  const readAgain = () => client.invalidateQueries({ queryKey: s3Key(s3, bucket) });
  const isVersions = victims.some(({ versionId }) => versionId !== undefined);
  const hasFolders = victims.some(({ isFolder }) => isFolder);

  async function run(): Promise<void> {
    setBusy(true);
    setResults([]);
    try {
      const report = (some: readonly Deleted[]) => setResults((before = []) => [...before, ...some]);
      await s3.delete(
        bucket,
        victims.filter(({ isFolder }) => !isFolder),
        report,
      );
      for (const { key } of victims.filter(({ isFolder }) => isFolder))
        await deleteFolder({ s3, bucket, prefix: key, report, isStopped: () => isLeft.current });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
      if (isLeft.current) await readAgain();
    }
  }

  function leave(): void {
    isLeft.current = true;
    if (results) {
      onDone();
      // Once the dialogs are gone: what they show was deleted, and to read it again would fail.
      setTimeout(() => void readAgain());
    }
    close();
  }

  return (
    <Dialog opened onClose={leave} title={`Delete: ${victims.length} chosen`}>
      <Stack>
        {!results && (
          <>
            <Text size="sm">
              {isVersions ? 'These versions are gone for good.' : whatStays(versioning)}
              {hasFolders && ' Folders go with everything in them.'}
            </Text>
            <List size="sm">
              {victims.slice(0, 10).map(({ key, versionId }) => (
                <List.Item key={`${key} ${versionId}`}>{key}</List.Item>
              ))}
              {victims.length > 10 && <List.Item>and {victims.length - 10} more</List.Item>}
            </List>
            <TextInput
              label={`Type ${victims.length} to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={leave}>
                Cancel
              </Button>
              <Button color="red" disabled={typed !== String(victims.length)} onClick={() => void run()}>
                Delete
              </Button>
            </Group>
          </>
        )}
        {results && <Outcome results={results} isBusy={isBusy} />}
        {error !== undefined && <Failed error={error} />}
        {results && !isBusy && <Button onClick={leave}>Close</Button>}
      </Stack>
    </Dialog>
  );
}

/** `Enabled`, `Suspended` or nothing; undefined while it is read, and where the person may not see it. */
function useVersioning(bucket: string): string | undefined {
  const s3 = useS3();
  const { data } = useQuery({
    queryKey: s3Key(s3, bucket, 'versioning'),
    queryFn: () => s3.setting(bucket, 'versioning'),
  });
  if (data === undefined) return undefined;
  return data.document === null ? '' : textIn(readXml(data.document), 'Status');
}

async function deleteFolder(folder: {
  readonly s3: S3;
  readonly bucket: string;
  readonly prefix: string;
  readonly report: (some: readonly Deleted[]) => void;
  readonly isStopped: () => boolean;
}): Promise<void> {
  const { s3, bucket, prefix, report, isStopped } = folder;
  for (let after: Query | undefined = {}; after !== undefined && !isStopped();) {
    const { items, next } = await s3.objects(bucket, prefix, after, true);
    if (items.length > 0) await s3.delete(bucket, items, report);
    after = next;
  }
}

function Outcome({ results, isBusy }: { readonly results: readonly Deleted[]; readonly isBusy: boolean }) {
  const failed = results.filter(({ problem }) => problem !== undefined);
  return (
    <>
      {isBusy && <Progress value={100} striped animated aria-label="Deleting" />}
      <Text size="sm" role="status">
        {results.length - failed.length} deleted, {failed.length} refused
      </Text>
      {failed.length > 0 && (
        <Alert color="red" variant="light">
          <List size="sm">
            {failed.slice(0, PROBLEMS_SHOWN).map(({ key, versionId, problem }) => (
              <List.Item key={`${key} ${versionId}`}>
                {key}: {problem}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </>
  );
}
