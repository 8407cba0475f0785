import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { Failed } from '../../parts/messages.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { numberProblem } from '../../parts/typed-number.ts';
import { bucketLockDocument, type BucketLock, type LockMode } from '../s3/settings.ts';
import { bucketLockOf } from '../s3/settings-read.ts';
import { Setting, SettingDialog, type Shown } from './setting.tsx';

export const LOCK_MODES: readonly { readonly value: LockMode; readonly label: string }[] = [
  { value: 'GOVERNANCE', label: 'governance: who is allowed to may end it early' },
  { value: 'COMPLIANCE', label: 'compliance: nobody may end it early' },
];

const DAYS = { min: 1, max: 36_500 };

/** What new versions get, as the form has it. */
interface EditedLock {
  readonly mode: LockMode | '';
  readonly days: number | undefined;
}

/** Whether versions can be kept from deletion, and for how long new ones are. */
export function ObjectLock({ bucket }: { readonly bucket: string }) {
  return (
    <Setting<BucketLock, EditedLock> bucket={bucket} name="object-lock" read={bucketLockOf}>
      {(shown) => <Lock shown={shown} />}
    </Setting>
  );
}

function Lock({ shown }: { readonly shown: Shown<BucketLock, EditedLock> }) {
  const { value, edited, edit, error } = shown;
  const { isLockable, retention } = value;
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {!isLockable && 'It is off: versions cannot be kept from deletion. It needs versioning.'}
        {isLockable && !retention && 'It is on. New versions are kept from deletion only where that is asked for.'}
        {retention &&
          `It is on. New versions are kept from deletion for ${retention.days} days (${retention.mode.toLowerCase()}).`}
      </Text>
      {!edited && error && <Failed error={error} />}
      <Group>
        <Button variant="default" onClick={() => edit({ mode: retention?.mode ?? '', days: retention?.days ?? 30 })}>
          {isLockable ? 'Change the retention' : 'Switch object lock on'}
        </Button>
      </Group>
      {edited && <LockDialog edited={edited} shown={shown} />}
    </Stack>
  );
}

interface LockDialogProps {
  readonly edited: EditedLock;
  readonly shown: Shown<BucketLock, EditedLock>;
}

function LockDialog({ edited, shown }: LockDialogProps) {
  const { isLockable } = shown.value;
  const { mode, days } = edited;
  const next = mode === '' || days === undefined ? undefined : { mode, days };
  return (
    <SettingDialog
      title="Object lock"
      problem={mode === '' ? undefined : daysProblem(days)}
      error={shown.error}
      isBusy={shown.isBusy}
      sent={bucketLockDocument(next)}
      submit={isLockable ? 'Save' : 'Switch it on for good'}
      save={() => shown.save(bucketLockDocument(next), 'The object lock is saved.')}
      close={() => shown.edit(undefined)}
    >
      {!isLockable && (
        <Alert color="yellow" variant="light">
          Object lock cannot be switched off again, and versioning cannot be paused from then on.
        </Alert>
      )}
      <Select
        label="New versions are kept from deletion"
        data={[{ value: '', label: 'only where that is asked for' }, ...LOCK_MODES]}
        value={mode}
        onChange={(value) => shown.edit({ ...edited, mode: value ?? '' })}
        allowDeselect={false}
      />
      {mode !== '' && (
        <NumberField
          label="For"
          unit="days"
          {...DAYS}
          value={days}
          onChange={(value) => shown.edit({ ...edited, days: value })}
        />
      )}
    </SettingDialog>
  );
}

function daysProblem(days: number | undefined): string | undefined {
  const problem = days === undefined ? 'Say for how many.' : numberProblem(days, DAYS);
  return problem && `Days: ${problem}`;
}
