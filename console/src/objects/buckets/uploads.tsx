import { ActionIcon, Alert, Button, Group, Paper, Progress, Stack, Text, Tooltip } from '@mantine/core';
import { bytes, percent } from '../../parts/format.ts';
import { IconTrash } from '../../parts/icons.tsx';
import { uploadQueue, useUploads, type UploadItem } from '../s3/queue.ts';
import { unfinished } from '../s3/resume.ts';
import { useS3 } from '../s3/use.ts';

const SHOWN_MAX = 50;

/** What is being sent into a bucket, each with its progress. */
export function Uploads({ bucket }: { readonly bucket: string }) {
  const s3 = useS3();
  const all = useUploads().filter((item) => item.bucket === bucket && item.s3.base === s3.base);
  const begun = new Set(all.map(({ key }) => key));
  const left = unfinished(localStorage, s3, bucket).filter(({ key }) => !begun.has(key));
  const done = all.filter(({ state }) => state === 'done').length;
  return (
    <Stack gap="xs" mb="md">
      {left.length > 0 && (
        <Alert color="blue" variant="light" title="Uploads that have not ended">
          {left.map(({ key, file }) => (
            <Text key={key} size="sm">
              {key}, {bytes(file.size)}: choose {file.name} again in the same folder, and it goes on where it stopped.
            </Text>
          ))}
        </Alert>
      )}
      {all.length > 0 && (
        <Paper withBorder p="sm" component="section" aria-label="Uploads">
          <Group justify="space-between" mb="xs">
            <Text fw={600} size="sm" role="status">
              {done} of {all.length} uploaded
            </Text>
            {done > 0 && (
              <Button size="xs" variant="default" onClick={() => uploadQueue.clearDone()}>
                Clear the list
              </Button>
            )}
          </Group>
          <Stack gap="xs">
            {[...all]
              .sort((a, b) => ORDER[a.state] - ORDER[b.state])
              .slice(0, SHOWN_MAX)
              .map((item) => (
                <Sending key={item.id} item={item} />
              ))}
            {all.length > SHOWN_MAX && <Text size="xs">and {all.length - SHOWN_MAX} more</Text>}
          </Stack>
        </Paper>
      )}
    </Stack>
  );
}

const ORDER = { failed: 0, running: 1, paused: 2, waiting: 3, done: 4 } as const;
const WORDS = {
  failed: 'failed',
  running: 'uploading',
  paused: 'paused',
  waiting: 'waiting',
  done: 'uploaded',
} as const;

function Sending({ item }: { readonly item: UploadItem }) {
  const { id, key, file, state, sentBytes, problem } = item;
  const share = state === 'done' ? 100 : percent(sentBytes, file.size);
  const mayPause = state === 'running' || state === 'waiting';
  const mayGoOn = state === 'paused' || state === 'failed';
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" truncate>
          {key}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed">
            {WORDS[state]}, {bytes(Math.trunc((file.size * share) / 100))} of {bytes(file.size)}
          </Text>
          {mayPause && (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => uploadQueue.pause(id)}
              aria-label={`Pause ${key}`}
            >
              Pause
            </Button>
          )}
          {mayGoOn && (
            <Button size="compact-xs" onClick={() => uploadQueue.resume(id)} aria-label={`Resume ${key}`}>
              Resume
            </Button>
          )}
          {state !== 'done' && (
            <Tooltip label="Cancel this upload">
              <ActionIcon
                variant="subtle"
                color="gray"
                onClick={() => void uploadQueue.drop(id)}
                aria-label={`Cancel ${key}`}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
      <Progress value={share} size="sm" color={state === 'failed' ? 'red' : 'teal'} aria-label={`${key}: uploaded`} />
      {problem !== undefined && (
        <Text size="xs" c="red" role="alert">
          {problem}
        </Text>
      )}
    </div>
  );
}
