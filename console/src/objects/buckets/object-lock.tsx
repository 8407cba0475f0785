import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Failed } from '../../parts/messages.tsx';
import { Time } from '../../parts/small.tsx';
import { legalHoldDocument, retentionDocument, type LockMode, type ObjectRetention } from '../s3/settings.ts';
import { useS3Act } from '../s3/use.ts';
import { LOCK_MODES } from './lock.tsx';

interface VersionLockProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly versionId: string | undefined;
  readonly retention: ObjectRetention | undefined;
  readonly isHeld: boolean;
}

/** Keeps one version from deletion: until a time, or until somebody ends the hold. */
export function VersionLock({ bucket, objectKey: key, versionId, retention, isHeld }: VersionLockProps) {
  const [isOpen, setOpen] = useState(false);
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
        <Button size="xs" variant="default" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          {retention ? 'Change the retention' : 'Keep it for a time'}
        </Button>
      </Group>
      {isOpen && (
        <RetentionForm
          bucket={bucket}
          objectKey={key}
          versionId={versionId}
          retention={retention}
          close={() => setOpen(false)}
        />
      )}
    </Stack>
  );
}

function RetentionForm(props: Omit<VersionLockProps, 'isHeld'> & { readonly close: () => void }) {
  const { bucket, objectKey: key, versionId, retention, close } = props;
  const [mode, setMode] = useState<LockMode>(retention?.mode ?? 'GOVERNANCE');
  const [day, setDay] = useState(retention?.until.slice(0, 10) ?? '');
  // To shorten or end a retention of governance is to bypass it; who may not is refused.
  const headers = { 'x-amz-bypass-governance-retention': 'true' };
  const saving = useS3Act(bucket, (s3, next: ObjectRetention | undefined) =>
    s3.setDocument(bucket, 'retention', retentionDocument(next), { key, versionId, headers }),
  );
  const save = (next: ObjectRetention | undefined) => saving.mutate(next, { onSuccess: close });
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="xs">
        <Select
          label="Mode"
          data={[...LOCK_MODES]}
          value={mode}
          onChange={(value) => value && setMode(value)}
          allowDeselect={false}
          flex={1}
        />
        <TextInput
          type="date"
          label="Until the end of (UTC)"
          value={day}
          onChange={(event) => setDay(event.currentTarget.value)}
        />
        <Button
          disabled={day === ''}
          loading={saving.isPending}
          onClick={() => save({ mode, until: `${day}T23:59:59Z` })}
        >
          Keep it
        </Button>
        {retention?.mode === 'GOVERNANCE' && (
          <Button variant="default" onClick={() => save(undefined)}>
            End the retention
          </Button>
        )}
      </Group>
      {saving.error && <Failed error={saving.error} />}
    </Stack>
  );
}
