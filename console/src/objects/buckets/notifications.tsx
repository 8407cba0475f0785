import { Alert, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { Failed } from '../../parts/messages.tsx';
import { CommandText } from '../../parts/small.tsx';
import { hooksDocument, type Hook } from '../s3/settings.ts';
import { hooksOf } from '../s3/settings-read.ts';
import { Rules, withRule, type EditedRule } from './rules.tsx';
import { Setting, SettingDialog, type Shown } from './setting.tsx';

/** The kinds of events; what a kind is made of can be chosen by programs, and is shown by its name. */
const EVENTS: readonly (readonly [event: string, label: string])[] = [
  ['s3:ObjectCreated:*', 'an object is written'],
  ['s3:ObjectRemoved:*', 'an object is deleted'],
  ['s3:ObjectTagging:*', 'tags are changed'],
  ['s3:ObjectAcl:Put', 'an access list is changed'],
  ['s3:LifecycleExpiration:*', 'a lifecycle rule deletes'],
  ['s3:LifecycleTransition', 'a lifecycle rule moves to another storage policy'],
];

const SECRET = 'x-granary-notification-secret';

/** Which webhooks get the events of the bucket. */
export function Notifications({ bucket }: { readonly bucket: string }) {
  return (
    <Setting<Hook[], EditedRule<Hook>> bucket={bucket} name="notification" read={hooksOf}>
      {(shown) => <Hooks shown={shown} />}
    </Setting>
  );
}

function Hooks({ shown }: { readonly shown: Shown<Hook[], EditedRule<Hook>> }) {
  const { value: hooks, edited, edit, save, isBusy, error } = shown;
  const secret = shown.answered(SECRET);
  const taken = new Set(hooks.map(({ id }) => id));
  const fresh = Array.from({ length: hooks.length + 1 }, (_, at) => `webhook-${at + 1}`).find((id) => !taken.has(id));
  const start: Hook = { id: fresh ?? '', address: '', events: ['s3:ObjectCreated:*'], prefix: '', suffix: '' };
  return (
    <Stack gap="sm">
      <Rules
        headings={['Webhook', 'When', 'Keys']}
        rows={hooks.map(({ id, address, events, prefix, suffix }) => ({
          name: id,
          cells: [address, events.map(wordsOf).join('; '), keysOf(prefix, suffix)],
        }))}
        empty="No notifications yet. A rule posts each event to the address of a webhook."
        isBusy={isBusy}
        removal="This rule sends no more events of this bucket to the webhook."
        onAdd={() => edit({ at: 'new', rule: start })}
        onChange={(at) => edit({ at, rule: hooks[at] ?? start })}
        onRemove={(at) => save(hooksDocument(hooks.filter((_, index) => index !== at)), 'The rule is removed.')}
      />
      {edited === undefined && error && <Failed error={error} />}
      {secret !== null && (
        <Alert color="teal" variant="light" title="What is posted is signed with this secret">
          Give it to the webhook. It is shown whenever the rules are saved.
          <CommandText text={secret} label="Copy the secret" />
        </Alert>
      )}
      {edited && (
        <HookDialog
          hook={edited.rule}
          known={hooks.flatMap(({ events }) => events)}
          change={(part) => edit({ ...edited, rule: { ...edited.rule, ...part } })}
          shown={shown}
          save={() => save(hooksDocument(withRule(hooks, edited)), 'The rule is saved.')}
        />
      )}
    </Stack>
  );
}

function wordsOf(event: string): string {
  return EVENTS.find(([name]) => name === event)?.[1] ?? event;
}

function keysOf(prefix: string, suffix: string): string {
  const parts = [prefix !== '' && `beginning with ${prefix}`, suffix !== '' && `ending with ${suffix}`].filter(Boolean);
  return parts.length === 0 ? 'all' : parts.join(' and ');
}

interface HookDialogProps {
  readonly hook: Hook;
  /** Events of the rules that are there: those that the form does not have stay to be chosen. */
  readonly known: readonly string[];
  readonly change: (part: Partial<Hook>) => void;
  readonly shown: Shown<unknown, EditedRule<Hook>>;
  readonly save: () => void;
}

function HookDialog({ hook, known, change, shown, save }: HookDialogProps) {
  const others = [...new Set(known)].filter((event) => !EVENTS.some(([name]) => name === event));
  const problem = !/^https?:\/\/./.test(hook.address)
    ? 'Give the address of the webhook, such as https://hooks.example.org/photos.'
    : hook.events.length === 0
      ? 'Choose at least one event.'
      : undefined;
  return (
    <SettingDialog
      title="Notification"
      problem={problem}
      error={shown.error}
      isBusy={shown.isBusy}
      sent={hooksDocument([hook])}
      submit="Save rule"
      save={save}
      close={() => shown.edit(undefined)}
    >
      <Text size="sm">The administrator of the array says which hosts may be posted to.</Text>
      <TextInput
        label="Address of the webhook"
        placeholder="https://hooks.example.org/photos"
        value={hook.address}
        onChange={(event) => change({ address: event.currentTarget.value })}
        required
      />
      <Checkbox.Group label="When" value={[...hook.events]} onChange={(events) => change({ events })}>
        <Stack gap="xs" mt={4}>
          {[...EVENTS, ...others.map((event) => [event, event] as const)].map(([event, label]) => (
            <Checkbox key={event} value={event} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput
        label="Key prefix"
        value={hook.prefix}
        onChange={(event) => change({ prefix: event.currentTarget.value })}
      />
      <TextInput
        label="Key suffix"
        placeholder=".jpg"
        value={hook.suffix}
        onChange={(event) => change({ suffix: event.currentTarget.value })}
      />
    </SettingDialog>
  );
}
