import {
  ChangeFeed,
  changeRoutes,
  EventMailer,
  metricsTokenRoutes,
  sessionRoutes,
  Sessions,
  sessionSettingRoutes,
  webhookRoutes,
  WebhookService,
  type Tx,
} from '@granary/kernel';
import { actorIdOf } from './actor.ts';
import type { ProviderId, UserId } from './ids.ts';
import { AccountOpening } from './accounts/opening.ts';
import { accountRoutes } from './accounts/routes.ts';
import { RemoteAccounts } from './accounts/remote.ts';
import { PortalAccountService } from './accounts/service.ts';
import { SignUps } from './accounts/sign-ups.ts';
import { excessWithout } from './arrays/compute-limits.ts';
import { ArrayContentsService } from './arrays/contents.ts';
import { ArrayDeletions } from './arrays/deletions.ts';
import { ArrayLifecycle } from './arrays/lifecycle.ts';
import { ObjectsConnection } from './arrays/objects-connection.ts';
import { ArrayOrders } from './arrays/orders.ts';
import { publicServiceRoutes } from './arrays/public-services/routes.ts';
import { PublicServiceService } from './arrays/public-services/service.ts';
import { ArrayRecovery } from './arrays/recovery.ts';
import { ArrayRecords } from './arrays/records.ts';
import { placeOfArray } from './arrays/place.ts';
import { namesOfArrays } from './arrays/repository.ts';
import { arrayRoutes } from './arrays/routes.ts';
import { ArrayService } from './arrays/service.ts';
import { ArrayStates } from './arrays/states.ts';
import { ArrayWatcher } from './arrays/watcher.ts';
import { billingRoutes } from './billing/routes.ts';
import { BillingService } from './billing/service.ts';
import { concerns } from './changes/concerns.ts';
import { Joining } from './clouds/joining.ts';
import { IssuerRenewals } from './clouds/renewals.ts';
import { findCloud } from './clouds/repository.ts';
import { cloudRoutes } from './clouds/routes.ts';
import { CloudService } from './clouds/service.ts';
import { eventRoutes } from './events/routes.ts';
import type { PortalHandlers } from './handlers.ts';
import { InterfaceService, networkRoutes, NetworkService, VlanService } from './networks/index.ts';
import { overviewRoutes } from './overview/routes.ts';
import { OverviewService } from './overview/service.ts';
import { Passage } from './passage/service.ts';
import { pricingRoutes } from './pricing/routes.ts';
import { PricingService } from './pricing/service.ts';
import { ProviderGroups } from './providers/groups.ts';
import { findProvider } from './providers/repository.ts';
import { providerGroupRoutes, providerRoutes } from './providers/routes.ts';
import { ProviderService } from './providers/service.ts';
import { cloudRelations, providerRelations, userRelations } from './relations.ts';
import { requestRoutes } from './requests/routes.ts';
import { RequestService } from './requests/service.ts';
import { sessionPeople } from './sessions/people.ts';
import { meRoutes } from './me/routes.ts';
import { mailRoutes } from './settings/mail-routes.ts';
import { MailSettingService } from './settings/mail.ts';
import { searchRoutes } from './search/routes.ts';
import { SearchService } from './search/service.ts';
import { settingRoutes } from './settings/routes.ts';
import { SettingService } from './settings/service.ts';
import { ComputeService, type ComputeArguments } from './tenants/computes/service.ts';
import { forecastRoutes } from './summaries/routes.ts';
import { ArraySummaries } from './summaries/service.ts';
import { tenantRoutes } from './tenants/routes.ts';
import { TenantService } from './tenants/service.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { SignIn } from './tokens/service.ts';
import type { Tools } from './tools.ts';
import { TotpService } from './totp/service.ts';
import { userRoutes } from './users/routes.ts';
import { PortalUserService } from './users/service.ts';

export interface Services {
  readonly changes: ChangeFeed;
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly users: PortalUserService;
  readonly clouds: CloudService;
  readonly providers: ProviderService;
  readonly renewals: IssuerRenewals;
  readonly watcher: ArrayWatcher;
  readonly summaries: ArraySummaries;
  readonly deletions: ArrayDeletions;
  readonly signUps: SignUps;
  readonly webhooks: WebhookService;
  readonly mailer: EventMailer;
  readonly passage: Passage;
  readonly handlers: PortalHandlers;
}

/** How deliveries of webhooks name it. */
const PORTAL = { service: 'portal', name: 'portal', id: 'portal' };

/** Every service of the portal, each given what it stands on and nothing else. */
export function createServices(tools: Tools): Services {
  const mayListEvents = ({ role }: { readonly role: string }) => role === 'admin';
  const changes = new ChangeFeed({ ...tools, concerns, mayListEvents });
  const sessions = new Sessions(tools, () => PORTAL.service);
  const totp = new TotpService(tools);
  const signIn = new SignIn(tools, sessions, totp);
  const endSessions = (tx: Tx, userId: UserId, except?: number) => sessions.endOfUser(tx, actorIdOf(userId), except);
  const users = new PortalUserService(tools, { signIn, relations: userRelations, sessions, totp });
  const records = new ArrayRecords(tools);
  const recordsChanged = () => {
    records.changed();
  };
  const clouds = new CloudService(tools, cloudRelations(tools, recordsChanged));
  const providers = new ProviderService(tools, clouds, providerRelations(tools, recordsChanged));
  const requests = new RequestService(tools);
  const states = new ArrayStates(tools, records);
  const interfaces = new InterfaceService(tools, placeOfArray);
  const lifecycle = new ArrayLifecycle({ tools, states, clouds, interfaces });
  const deletions = new ArrayDeletions({ tools, requests, states, lifecycle });
  const connection = new ObjectsConnection(
    tools.vault,
    (array) => clouds.fetchToArray(array),
    (array) => clouds.claimed(array.cloudId),
  );
  const parts = { tools, clouds, requests, interfaces, records, states, lifecycle, deletions, connection };
  const orders = new ArrayOrders(parts);
  const arrays = new ArrayService(parts);
  const vlans = new VlanService(tools, namesOfArrays);
  const computes = new ComputeService(tools, (db, account) => {
    const cloudId = findProvider(db, account.providerId)?.cloudId;
    const cloud = cloudId === undefined ? undefined : findCloud(db, cloudId);
    return cloud && excessWithout(db, account, cloud.inventory.app_engines);
  });
  requests.register(['delete_compute'], {
    execute: (tx, request) => {
      computes.removeCompute(tx, request.arguments['compute_id'] as number, 'system');
      return undefined;
    },
  });
  requests.register(['create_compute'], {
    execute: (tx, request) => {
      const args = request.arguments as unknown as ComputeArguments;
      computes.createCompute(tx, { userId: request.userId, arguments: args, actor: 'system' });
      return undefined;
    },
  });
  const remoteAccounts = new RemoteAccounts(connection);
  const opening = new AccountOpening(remoteAccounts);
  const refreshCloud = async (providerId: ProviderId) => {
    const provider = tools.store.read((db) => findProvider(db, providerId));
    if (provider) await clouds.refresh(provider.cloudId);
  };
  const passage = new Passage(parts);
  sessions.onEnded((id) => {
    changes.endSession(id);
    passage.endSession(id).catch((error: unknown) => tools.log.warn({ error }, 'keys of a session were not dropped'));
  });
  sessions.onRightsChanged((user, except) => {
    changes.endUser(user, except);
    passage
      .endUser(user, except)
      .catch((error: unknown) => tools.log.warn({ error }, 'keys of a user were not dropped'));
  });
  const contents = new ArrayContentsService({ ...parts, accounts: remoteAccounts });
  const webhooks = new WebhookService({ ...tools, source: () => PORTAL });
  const mailSettings = new MailSettingService(tools);
  const mailer = new EventMailer({ ...tools, name: () => PORTAL.name, mail: () => mailSettings.mail() });
  const watcher = new ArrayWatcher({ ...parts, changes });
  const summaries = new ArraySummaries(tools, clouds, changes);
  const handlers = merged([
    tokenRoutes(signIn),
    userRoutes(users),
    meRoutes({ users, totp, endSessions }),
    cloudRoutes(clouds, new Joining(tools, clouds)),
    providerRoutes(providers),
    providerGroupRoutes(new ProviderGroups(tools)),
    pricingRoutes(new PricingService(tools, recordsChanged)),
    arrayRoutes({ ...parts, orders, arrays, contents, passage, recovery: new ArrayRecovery(parts) }),
    requestRoutes(requests),
    publicServiceRoutes(new PublicServiceService({ ...parts, accounts: opening })),
    accountRoutes(new PortalAccountService({ ...parts, remote: remoteAccounts, opening })),
    tenantRoutes(new TenantService(tools), computes, (actor, request) =>
      requests.file(actor, { ...request, arrayId: null }),
    ),
    networkRoutes(new NetworkService({ tools, vlans, refreshCloud, arrayNames: namesOfArrays }), vlans),
    billingRoutes(new BillingService(tools)),
    overviewRoutes(new OverviewService(tools, { summaries, webhooks, watcher })),
    forecastRoutes(tools, summaries),
    searchRoutes(new SearchService(tools, { webhooks })),
    eventRoutes(tools),
    { changes: changeRoutes(changes) },
    settingRoutes(new SettingService(tools)),
    mailRoutes(mailSettings),
    {
      sessions: sessionRoutes({ ...tools, sessions, people: sessionPeople(tools, signIn), service: () => ({}) }),
      settings: { ...metricsTokenRoutes(tools), ...sessionSettingRoutes(sessions) },
      webhooks: webhookRoutes(webhooks),
    },
  ]);
  const signUps = new SignUps(tools, states, remoteAccounts);
  const renewals = new IssuerRenewals(tools, clouds);
  const running = { renewals, watcher, summaries, deletions, signUps, webhooks, mailer, passage };
  return { changes, signIn, sessions, users, clouds, providers, ...running, handlers };
}

/** Two folders may serve one group: prices of providers are in `pricing`. */
function merged(parts: readonly PortalHandlers[]): PortalHandlers {
  const groups: Record<string, object> = {};
  for (const part of parts) {
    for (const [group, handlers] of Object.entries(part)) groups[group] = { ...groups[group], ...handlers };
  }
  return groups;
}
