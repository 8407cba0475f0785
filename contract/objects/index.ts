import type { Api } from '../endpoint.ts';
import { accounts } from './accounts.ts';
import { changes } from './changes.ts';
import { destinations } from './destinations.ts';
import { drives } from './drives.ts';
import { forecasts } from './forecasts.ts';
import { loadBalancerGroups } from './load-balancer-groups.ts';
import { accessLogs, messages } from './logs.ts';
import { policies } from './policies.ts';
import { requests } from './requests.ts';
import { roles } from './roles.ts';
import { search } from './search.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { usageReports } from './usage-reports.ts';
import { users } from './users.ts';
import { virtualControllers } from './virtual-controllers.ts';
import { webhooks } from './webhooks.ts';

export { objectsEventKinds } from '../event-kinds.ts';
export { objectsRoles, type ObjectsRole } from './access.ts';
export { Account } from './accounts.ts';
export { Destination } from './destinations.ts';
export { Drive, ServedDrive } from './drives.ts';
export { LoadBalancerGroup } from './load-balancer-groups.ts';
export { AccessLogEntry, accessLogKinds, EventMessage, type AccessLogKind } from './logs.ts';
export { IopsPoint, LatencyPoint, ThroughputPoint } from './metering.ts';
export { StoragePolicy, StoragePolicyDetail } from './policies.ts';
export { AccountRequest } from './requests.ts';
export { Role } from './roles.ts';
export { SYSTEM_ACCOUNT } from './sessions.ts';
export { GlobalSettings, SslCertificates } from './settings.ts';
export { UsageReport } from './usage-reports.ts';
export { AccountUser, S3Credentials, User, UserDetail } from './user-records.ts';
export { VirtualController } from './virtual-controllers.ts';

export const objectsApi = {
  name: 'objects',
  title: 'Granary object storage',
  description:
    'Management of one object storage array: accounts, users, drives, storage policies, replication, metering, usage and settings. The data itself is reached over S3 and Swift at the same address.',
  dialect: 'array',
  asyncStatus: 1073791826,
  groups: {
    accounts,
    requests,
    sessions,
    users,
    roles,
    drives,
    virtualControllers,
    loadBalancerGroups,
    policies,
    destinations,
    usageReports,
    messages,
    forecasts,
    search,
    changes,
    accessLogs,
    settings,
    webhooks,
  },
} as const satisfies Api;
