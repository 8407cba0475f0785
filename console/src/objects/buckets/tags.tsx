import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconTrash } from '../../parts/icons.tsx';
import { Failed } from '../../parts/messages.tsx';
import type { Of } from '../s3/client.ts';
import { tagsDocument, tagsProblem, type Tag } from '../s3/settings.ts';
import { tagsOf } from '../s3/settings-read.ts';
import { Setting, type Shown } from './setting.tsx';

type TagsShown = Shown<Tag[], readonly Tag[]>;

interface TagsProps {
  readonly bucket: string;
  /** Of a version of an object instead of the bucket. */
  readonly of?: Of;
}

/** Names with values, of a bucket or of an object. */
export function Tags(props: TagsProps) {
  return (
    <Setting<Tag[], readonly Tag[]> {...props} name="tagging" read={tagsOf}>
      {(shown) => <TagEditor shown={shown} />}
    </Setting>
  );
}

function TagEditor({ shown: { value, edited, edit, save, isBusy, error } }: { readonly shown: TagsShown }) {
  const tags = edited ?? value;
  const problem = edited && tagsProblem(edited);
  const change = (at: number, part: Partial<Tag>) =>
    edit(tags.map((tag, index) => (index === at ? { ...tag, ...part } : tag)));
  return (
    <Stack gap="xs">
      {tags.length === 0 && (
        <Text size="sm" c="dimmed">
          There are no tags.
        </Text>
      )}
      {tags.map(({ key, value }, at) => (
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
            onClick={() => edit(tags.filter((_, index) => index !== at))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {problem !== undefined && <Failed error={new Error(problem)} />}
      {error && <Failed error={error} />}
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => edit([...tags, { key: '', value: '' }])}>
          Add a tag
        </Button>
        {edited && (
          <Button
            size="xs"
            loading={isBusy}
            disabled={problem !== undefined}
            onClick={() => save(tagsDocument(edited), 'The tags are saved.')}
          >
            Save tags
          </Button>
        )}
      </Group>
    </Stack>
  );
}
