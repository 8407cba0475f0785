import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { Failed } from '../../parts/messages.tsx';
import { Time } from '../../parts/small.tsx';
import { legalHoldDocument, retentionDocument, type LockMode, type ObjectRetention } from '../s3/settings.ts';
import { retentionOf } from '../s3/settings-read.ts';
import { useS3Act } from '../s3/use.ts';
import { LOCK_MODES } from './lock.tsx';
import { Setting, type Shown } from './setting.tsx';

interface VersionLockProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly versionId: string | undefined;
  readonly isHeld: boolean;
}

/** To shorten or end a retention of governance is to bypass it; who may not is refused. */
const BYPASS = { 'x-amz-bypass-governance-retention': 'true' };

/** Keeps one version from deletion: until a time, or until somebody ends the hold. */
export function VersionLock({ bucket, objectKey: key, versionId, isHeld }: VersionLockProps) {
  const holding = useS3Act(bucket, (s3, isOn: boolean) =>
    s3.setDocument(bucket, 'legal-hold', legalHoldDocument(isOn), { key, versionId }),
  );
  return (
    <Stack gap="xs" component="section" aria-label="Lock">
      <Switch
        label="Legal hold: it cannot be deleted until the hold ends"
        checked={isHeld}
        disabled={holding.isPending}
        onChange={(event) => holding.mutate(event.currentTarget.checked)}
      />
      {holding.error && <Failed error={holding.error} />}
      <Setting<ObjectRetention | undefined, EditedRetention>
        bucket={bucket}
        name="retention"
        of={{ key, versionId, headers: BYPASS }}
        read={retentionOf}
      >
        {(shown) => <Retention shown={shown} />}
      </Setting>
    </Stack>
  );
}

interface EditedRetention {
  readonly mode: LockMode;
  readonly day: string;
}

type RetentionShown = Shown<ObjectRetention | undefined, EditedRetention>;

function Retention({ shown }: { readonly shown: RetentionShown }) {
  const { value: retention, edited, edit } = shown;
  const open = () => edit({ mode: retention?.mode ?? 'GOVERNANCE', day: retention?.until.slice(0, 10) ?? '' });
  return (
    <>
      <Group justify="space-between">
        <Text size="sm">
          {retention ? (
            <>
              Kept from deletion until <Time at={retention.until} /> ({retention.mode.toLowerCase()}).
            </>
          ) : (
            'No retention: it can be deleted at any time.'
          )}
        </Text>
        <Button
          size="xs"
          variant="default"
          onClick={edited ? () => edit(undefined) : open}
          aria-expanded={edited !== undefined}
        >
          {retention ? 'Change the retention' : 'Keep it for a time'}
        </Button>
      </Group>
      {edited && <RetentionForm edited={edited} shown={shown} />}
    </>
  );
}

interface RetentionFormProps {
  readonly edited: EditedRetention;
  readonly shown: RetentionShown;
}

function RetentionForm({ edited, shown }: RetentionFormProps) {
  const { value: retention, edit, save, isBusy, error } = shown;
  const { mode, day } = edited;
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="xs">
        <Select
          label="Mode"
          data={[...LOCK_MODES]}
          value={mode}
          onChange={(value) => value && edit({ ...edited, mode: value })}
          allowDeselect={false}
          flex={1}
        />
        <TextInput
          type="date"
          label="Until the end of (UTC)"
          value={day}
          onChange={(event) => edit({ ...edited, day: event.currentTarget.value })}
        />
        <Button
          disabled={day === ''}
          loading={isBusy}
          onClick={() => save(retentionDocument({ mode, until: `${day}T23:59:59Z` }), 'The retention is saved.')}
        >
          Keep it
        </Button>
        {retention?.mode === 'GOVERNANCE' && (
          <Button variant="default" onClick={() => save(retentionDocument(undefined), 'The retention is ended.')}>
            End the retention
          </Button>
        )}
      </Group>
      {error && <Failed error={error} />}
    </Stack>
  );
}
