import { Button, Checkbox, Code, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed, Loading } from '../../parts/messages.tsx';
import { lifecycleDocument, ruleProblem, type LifecycleRule } from '../s3/documents.ts';
import { lifecycleOf, readXml } from '../s3/replies.ts';
import { s3Key, useS3, useS3Act } from '../s3/use.ts';
import { Rules } from './rules.tsx';
import { Setting, XmlEditor } from './setting.tsx';

/** Rules that remove objects, versions and unfinished uploads after a time. */
export function LifecycleEditor({ bucket }: { readonly bucket: string }) {
  const s3 = useS3();
  const [edited, setEdited] = useState<number | 'new'>();
  const [isText, setText] = useState(false);
  const reading = useQuery({
    queryKey: s3Key(s3, bucket, 'lifecycle'),
    queryFn: async () => (await s3.document(bucket, 'lifecycle')) ?? null,
  });
  const saving = useS3Act(bucket, (at, rules: readonly LifecycleRule[]) =>
    at.setDocument(bucket, 'lifecycle', rules.length === 0 ? undefined : lifecycleDocument(rules)),
  );
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const { rules, isWhole } = reading.data === null ? { rules: [], isWhole: true } : lifecycleOf(readXml(reading.data));
  if (!isWhole || isText) {
    return (
      <Further
        bucket={bucket}
        back={isWhole ? () => setText(false) : undefined}
        about={
          isWhole
            ? undefined
            : 'These rules choose objects, or do with them, what the form does not have: tags, sizes, dates, moves to another storage policy.'
        }
      />
    );
  }
  const save = (rule: LifecycleRule) => {
    const next = edited === 'new' ? [...rules, rule] : rules.map((one, index) => (index === edited ? rule : one));
    saving.mutate(next, { onSuccess: () => setEdited(undefined) });
  };
  return (
    <Stack gap="sm">
      <Rules
        headings={['Rule', 'For keys that begin with', 'Does', 'State']}
        rows={rules.map((rule) => ({
          name: rule.id,
          cells: [rule.id, rule.prefix || 'anything', inWords(rule), rule.isOn ? 'on' : 'off'],
        }))}
        empty="There are no rules: everything stays until it is deleted."
        isBusy={saving.isPending}
        onAdd={() => setEdited('new')}
        onChange={setEdited}
        onRemove={(index) => saving.mutate(rules.filter((_, other) => other !== index))}
        tools={
          <Button variant="subtle" onClick={() => setText(true)}>
            Edit as XML
          </Button>
        }
      />
      {edited === undefined && saving.error && <Failed error={saving.error} />}
      {edited !== undefined && (
        <RuleDialog
          rule={edited === 'new' ? { id: `rule-${rules.length + 1}`, isOn: true, prefix: '' } : rules[edited]}
          taken={rules.filter((_, index) => index !== edited).map(({ id }) => id)}
          error={saving.error}
          isBusy={saving.isPending}
          save={save}
          close={() => setEdited(undefined)}
        />
      )}
    </Stack>
  );
}

function inWords({ expireDays, oldVersionDays, dropsMarkers, uploadDays }: LifecycleRule): string {
  const days = (count: number) => (count === 1 ? '1 day' : `${count} days`);
  return [
    expireDays !== undefined && `deletes objects after ${days(expireDays)}`,
    oldVersionDays !== undefined && `removes old versions after ${days(oldVersionDays)}`,
    uploadDays !== undefined && `ends unfinished uploads after ${days(uploadDays)}`,
    dropsMarkers && 'removes delete markers that hide nothing',
  ]
    .filter(Boolean)
    .join('; ');
}

interface FurtherProps {
  readonly bucket: string;
  readonly about: string | undefined;
  readonly back: (() => void) | undefined;
}

/** The rules as text: what the form does not have can be said there, and is not lost by a change. */
function Further({ bucket, about, back }: FurtherProps) {
  return (
    <Stack gap="sm">
      <Setting bucket={bucket} name="lifecycle" read={(root) => root}>
        {(shown) => <XmlEditor {...(about !== undefined && { about })} shown={shown} />}
      </Setting>
      {back && (
        <Button variant="subtle" w="fit-content" onClick={back}>
          Back to the form
        </Button>
      )}
    </Stack>
  );
}

interface RuleDialogProps {
  readonly rule: LifecycleRule | undefined;
  readonly taken: readonly string[];
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly save: (rule: LifecycleRule) => void;
  readonly close: () => void;
}

function RuleDialog({ rule: given, taken, error, isBusy, save, close }: RuleDialogProps) {
  const [rule, setRule] = useState<LifecycleRule>(given ?? { id: '', isOn: true, prefix: '' });
  const [isAsked, setAsked] = useState(false);
  const change = (part: Partial<LifecycleRule>) => setRule((before) => ({ ...before, ...part }));
  const nameProblem =
    rule.id === '' ? 'Give the rule a name.' : taken.includes(rule.id) ? 'Another rule has this name.' : undefined;
  const problem = ruleProblem(rule);
  const days = (label: string, description: string, name: 'expireDays' | 'oldVersionDays' | 'uploadDays') => (
    <NumberInput
      label={label}
      description={description}
      suffix=" days"
      min={1}
      allowDecimal={false}
      value={rule[name] ?? ''}
      onChange={(value) => change({ [name]: value === '' ? undefined : Number(value) })}
    />
  );
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setAsked(true);
    if (nameProblem === undefined && problem === undefined) save(rule);
  }
  return (
    <Dialog opened onClose={close} title="Lifecycle rule" size="lg">
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            value={rule.id}
            onChange={(event) => change({ id: event.currentTarget.value })}
            error={isAsked ? nameProblem : undefined}
            required
            maxLength={255}
          />
          <TextInput
            label="For keys that begin with"
            description="Empty for all objects of the bucket"
            placeholder="tmp/"
            value={rule.prefix}
            onChange={(event) => change({ prefix: event.currentTarget.value })}
          />
          {days('Delete objects after', 'Counted from their last change; empty to keep them', 'expireDays')}
          {days('Remove old versions after', 'Counted from when others took their place', 'oldVersionDays')}
          {days('End unfinished uploads after', 'Their parts take space until then', 'uploadDays')}
          <Checkbox
            label="Remove delete markers that hide no version"
            checked={rule.dropsMarkers ?? false}
            onChange={(event) => change({ dropsMarkers: event.currentTarget.checked })}
          />
          <Checkbox
            label="The rule is on"
            checked={rule.isOn}
            onChange={(event) => change({ isOn: event.currentTarget.checked })}
          />
          {isAsked && problem !== undefined && <Failed error={new Error(problem)} />}
          {error && <Failed error={error} />}
          <Text size="xs" c="dimmed">
            As it is sent
          </Text>
          <Code block mah={200} tabIndex={0}>
            {lifecycleDocument([rule])}
          </Code>
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={isBusy}>
              Save rule
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
