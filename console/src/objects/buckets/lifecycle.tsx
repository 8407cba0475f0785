import { counted } from '@granary/contract';
import { Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Failed } from '../../parts/messages.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { DAYS_MAX, lifecycleDocument, areDaysWrong, ruleProblem, type LifecycleRule } from '../s3/documents.ts';
import { lifecycleOf } from '../s3/replies.ts';
import { Rules, withRule, type EditedRule } from './rules.tsx';
import { asText, Setting, SettingDialog, XmlEditor, type Shown } from './setting.tsx';

type Edited = EditedRule<LifecycleRule> | string;
type LifecycleShown = Shown<ReturnType<typeof rulesIn>, Edited>;

function rulesIn(root: Element | undefined) {
  return root ? lifecycleOf(root) : { rules: [], isWhole: true };
}

/** Rules that remove objects, versions and unfinished uploads after a time. */
export function LifecycleEditor({ bucket }: { readonly bucket: string }) {
  const [isText, setText] = useState(false);
  return (
    <Setting<ReturnType<typeof rulesIn>, Edited> bucket={bucket} name="lifecycle" read={rulesIn}>
      {(shown) =>
        shown.value.isWhole && !isText && typeof shown.edited !== 'string' ? (
          <LifecycleRules shown={shown} editText={() => setText(true)} />
        ) : (
          <Further
            shown={shown}
            back={() => {
              shown.edit(undefined);
              setText(false);
            }}
          />
        )
      }
    </Setting>
  );
}

function LifecycleRules({ shown, editText }: { readonly shown: LifecycleShown; readonly editText: () => void }) {
  const { value, edit, save, isBusy, error } = shown;
  const { rules } = value;
  const edited = typeof shown.edited === 'object' ? shown.edited : undefined;
  const start = { id: `rule-${rules.length + 1}`, isOn: true, prefix: '' };
  const saveRules = (next: readonly LifecycleRule[], said: string) =>
    save(next.length === 0 ? undefined : lifecycleDocument(next), said);
  return (
    <Stack gap="sm">
      <Rules
        headings={['Rule', 'Key prefix', 'Action', 'State']}
        rows={rules.map((rule) => ({
          name: rule.id,
          cells: [rule.id, rule.prefix || 'anything', inWords(rule), rule.isOn ? 'on' : 'off'],
        }))}
        empty="There are no rules: everything stays until it is deleted."
        isBusy={isBusy}
        removal="What the rule would delete from now on stays, and takes space. What it deleted already does not come back."
        onAdd={() => edit({ at: 'new', rule: start })}
        onChange={(at) => edit({ at, rule: rules[at] ?? start })}
        onRemove={(index) =>
          saveRules(
            rules.filter((_, other) => other !== index),
            'The rule is removed.',
          )
        }
        tools={
          <Button variant="subtle" onClick={editText}>
            Edit as XML
          </Button>
        }
      />
      {!edited && error && <Failed error={error} />}
      {edited && (
        <RuleDialog
          rule={edited.rule}
          taken={rules.filter((_, index) => index !== edited.at).map(({ id }) => id)}
          change={(part) => edit({ ...edited, rule: { ...edited.rule, ...part } })}
          shown={shown}
          save={() => saveRules(withRule(rules, edited), 'The rule is saved.')}
        />
      )}
    </Stack>
  );
}

function inWords({ expireDays, oldVersionDays, dropsMarkers, uploadDays }: LifecycleRule): string {
  const days = (count: number) => counted(count, 'days');
  return [
    expireDays !== undefined && `deletes objects after ${days(expireDays)}`,
    oldVersionDays !== undefined && `removes old versions after ${days(oldVersionDays)}`,
    uploadDays !== undefined && `ends unfinished uploads after ${days(uploadDays)}`,
    dropsMarkers && 'removes delete markers that hide nothing',
  ]
    .filter(Boolean)
    .join('; ');
}

const FURTHER =
  'These rules choose objects, or do with them, what the form does not have: tags, sizes, dates, moves to another storage policy.';

/** The rules as text: what the form does not have can be said there, and is not lost by a change. */
function Further({ shown, back }: { readonly shown: LifecycleShown; readonly back: () => void }) {
  const { isWhole } = shown.value;
  return (
    <Stack gap="sm">
      <XmlEditor {...(!isWhole && { about: FURTHER })} shown={asText(shown)} />
      {isWhole && (
        <Button variant="subtle" w="fit-content" onClick={back}>
          Back to the form
        </Button>
      )}
    </Stack>
  );
}

interface RuleDialogProps {
  readonly rule: LifecycleRule;
  readonly taken: readonly string[];
  readonly change: (part: Partial<LifecycleRule>) => void;
  readonly shown: LifecycleShown;
  readonly save: () => void;
}

function RuleDialog({ rule, taken, change, shown, save }: RuleDialogProps) {
  const days = (label: string, description: string, name: 'expireDays' | 'oldVersionDays' | 'uploadDays') => (
    <NumberField
      label={label}
      description={description}
      unit="days"
      min={1}
      max={DAYS_MAX}
      value={rule[name]}
      onChange={(value) => change({ [name]: value })}
    />
  );
  return (
    <SettingDialog
      title="Lifecycle rule"
      problem={nameProblem(rule.id, taken) ?? ruleProblem(rule)}
      isAtField={nameProblem(rule.id, taken) === undefined && areDaysWrong(rule)}
      error={shown.error}
      isBusy={shown.isBusy}
      sent={lifecycleDocument([rule])}
      submit="Save rule"
      save={save}
      close={() => shown.edit(undefined)}
    >
      <TextInput
        label="Name"
        value={rule.id}
        onChange={(event) => change({ id: event.currentTarget.value })}
        required
        maxLength={255}
      />
      <TextInput
        label="Key prefix"
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
    </SettingDialog>
  );
}

function nameProblem(name: string, taken: readonly string[]): string | undefined {
  if (name === '') return 'Give the rule a name.';
  return taken.includes(name) ? 'Another rule has this name.' : undefined;
}
