import { Alert, Button, Card, Group, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useBase, useGo, useParam } from '../../app/base.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed, PageHead } from '../../parts/messages.tsx';
import { versioningDocument } from '../s3/documents.ts';
import { textIn } from '../s3/replies.ts';
import { useS3Act } from '../s3/use.ts';
import { AccessList, Encryption, PublicAccess } from './access.tsx';
import { Cors } from './cors.tsx';
import { LifecycleEditor } from './lifecycle.tsx';
import { ObjectLock } from './lock.tsx';
import { BucketLog } from './logging.tsx';
import { Notifications } from './notifications.tsx';
import { PolicyEditor } from './policy.tsx';
import { Replication } from './replication.tsx';
import { Setting } from './setting.tsx';
import { Tags } from './tags.tsx';

/** Everything that S3 lets be set of a bucket. */
export default function BucketSettings() {
  const bucket = useParam('bucket');
  const base = useBase();
  return (
    <>
      <PageHead title={`Settings of ${bucket}`} about="What the bucket keeps, for how long, and for whom.">
        <Button component={Link} to={`${base}/buckets/${bucket}`} variant="default">
          Objects of the bucket
        </Button>
      </PageHead>
      <Stack>
        <Part title="What it keeps" />
        <Section title="Versioning">
          <Versioning bucket={bucket} />
        </Section>
        <Section title="Object lock">
          <ObjectLock bucket={bucket} />
        </Section>
        <Section title="Lifecycle">
          <LifecycleEditor bucket={bucket} />
        </Section>
        <Section title="Encryption">
          <Encryption bucket={bucket} />
        </Section>
        <Section title="Tags">
          <Tags bucket={bucket} />
        </Section>
        <Part title="Who may reach it" />
        <Section title="Bucket policy">
          <PolicyEditor bucket={bucket} />
        </Section>
        <Section title="Public access">
          <PublicAccess bucket={bucket} />
        </Section>
        <Section title="Owners and access list">
          <AccessList bucket={bucket} />
        </Section>
        <Section title="CORS">
          <Cors bucket={bucket} />
        </Section>
        <Part title="Copies, log and notifications" />
        <Section title="Replication">
          <Replication bucket={bucket} />
        </Section>
        <Section title="Access log">
          <BucketLog bucket={bucket} />
        </Section>
        <Section title="Notifications">
          <Notifications bucket={bucket} />
        </Section>
        <Part title="The bucket itself" />
        <Section title="Delete">
          <DeleteBucket bucket={bucket} />
        </Section>
      </Stack>
    </>
  );
}

function Part({ title }: { readonly title: string }) {
  return (
    <Title order={2} size="h4" mt="sm">
      {title}
    </Title>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Title order={3} size="h5" mb="sm">
        {title}
      </Title>
      {children}
    </Card>
  );
}

function Versioning({ bucket }: { readonly bucket: string }) {
  return (
    <Setting bucket={bucket} name="versioning" read={(root) => (root ? textIn(root, 'Status') : '')}>
      {({ value: status, save, isBusy, error }) => (
        <Stack gap="xs">
          <Switch
            label="Keep what is overwritten or deleted as old versions"
            checked={status === 'Enabled'}
            disabled={isBusy}
            onChange={(event) => save(versioningDocument(event.currentTarget.checked), 'It is saved.')}
          />
          <Text size="sm" c="dimmed">
            {status === '' && 'It was never on: what is deleted is gone.'}
            {status === 'Suspended' && 'It was on: old versions of that time are still there.'}
            {status === 'Enabled' && 'Old versions take space; a lifecycle rule can remove them after a time.'}
          </Text>
          {error && <Failed error={error} />}
        </Stack>
      )}
    </Setting>
  );
}

function DeleteBucket({ bucket }: { readonly bucket: string }) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const go = useGo();
  const deleting = useS3Act(undefined, (s3, name: string) => s3.deleteBucket(name));
  const run = () => deleting.mutate(bucket, { onSuccess: () => go('/buckets') });
  return (
    <Group justify="space-between">
      <Text size="sm">Only an empty bucket can be deleted: no objects, no versions.</Text>
      <Button color="red" variant="default" onClick={() => setOpen(true)}>
        Delete bucket
      </Button>
      {isOpen && (
        <Dialog opened onClose={() => setOpen(false)} title="Delete bucket">
          <Stack>
            <Alert color="red" variant="light">
              <TextInput
                label={`Type ${bucket} to confirm`}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                autoComplete="off"
                data-autofocus
              />
            </Alert>
            {deleting.error && <Failed error={deleting.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setOpen(false)}>
                Cancel
              </Button>
              <Button color="red" disabled={typed !== bucket} loading={deleting.isPending} onClick={run}>
                Delete bucket
              </Button>
            </Group>
          </Stack>
        </Dialog>
      )}
    </Group>
  );
}
