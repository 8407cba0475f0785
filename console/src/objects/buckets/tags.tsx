import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { IconTrash } from '../../parts/icons.tsx';
import { Failed } from '../../parts/messages.tsx';
import { tagsDocument, tagsProblem, type Tag } from '../s3/settings.ts';
import { tagsOf } from '../s3/settings-read.ts';
import { Setting } from './setting.tsx';

export function BucketTags({ bucket }: { readonly bucket: string }) {
  return (
    <Setting bucket={bucket} name="tagging" read={tagsOf}>
      {({ value, save, isBusy, error }) => (
        <TagEditor
          tags={value}
          save={(tags, onDone) => save(tagsDocument(tags), 'The tags are saved.', onDone)}
          isBusy={isBusy}
          error={error}
        />
      )}
    </Setting>
  );
}

interface TagEditorProps {
  readonly tags: readonly Tag[];
  readonly save: (tags: readonly Tag[], onDone: () => void) => void;
  readonly isBusy: boolean;
  readonly error: Error | null;
}

/** Names with values, of a bucket or of an object. */
export function TagEditor({ tags, save, isBusy, error }: TagEditorProps) {
  const [typed, setTyped] = useState<readonly Tag[]>();
  const shown = typed ?? tags;
  const problem = typed && tagsProblem(typed);
  const change = (at: number, part: Partial<Tag>) =>
    setTyped(shown.map((tag, index) => (index === at ? { ...tag, ...part } : tag)));
  return (
    <Stack gap="xs">
      {shown.length === 0 && (
        <Text size="sm" c="dimmed">
          There are no tags.
        </Text>
      )}
      {shown.map(({ key, value }, at) => (
        <Group key={at} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={`Name of tag ${at + 1}`}
            placeholder="name"
            value={key}
            onChange={(event) => change(at, { key: event.currentTarget.value })}
            maxLength={128}
            flex={1}
          />
          <TextInput
            aria-label={`Value of tag ${at + 1}`}
            placeholder="value"
            value={value}
            onChange={(event) => change(at, { value: event.currentTarget.value })}
            maxLength={256}
            flex={1}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove tag ${at + 1}`}
            onClick={() => setTyped(shown.filter((_, index) => index !== at))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {problem !== undefined && <Failed error={new Error(problem)} />}
      {error && <Failed error={error} />}
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => setTyped([...shown, { key: '', value: '' }])}>
          Add a tag
        </Button>
        {typed && (
          <Button
            size="xs"
            loading={isBusy}
            disabled={problem !== undefined}
            onClick={() => save(typed, () => setTyped(undefined))}
          >
            Save tags
          </Button>
        )}
      </Group>
    </Stack>
  );
}
