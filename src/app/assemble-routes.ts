/** Assembles the routes of the public listener: the gateway, all operations, GraphQL, MCP, pages and probes. */

import { admitter } from '../auth/admit.ts'
import type { IdentityProvider } from '../auth/login/identity-provider.ts'
import type { DocumentCodec } from '../contract/document/document-codec.ts'
import type { Session } from '../core/session.ts'
import type { Detection } from '../detection/start-detection.ts'
import type { AcceptedJournal } from '../gateway/base/accepted-journal.ts'
import type { GatewayParts } from '../gateway/base/parts.ts'
import { gatewayRoutes } from '../gateway/routes.ts'
import { bind } from '../http/declare.ts'
import type { Feature } from '../http/feature.ts'
import type { Licensed } from '../license/licensed.ts'
import { checkPolicies, warnPolicy } from '../query/compile/protect/protect.ts'
import { checkStatement } from '../query/run/check-statement.ts'
import { apiViewerRoutes } from '../server/api-viewer.ts'
import { composeRoutes, type Routes } from '../server/compose.ts'
import { decisionPageRoutes } from '../server/decision-page.ts'
import { documentationRoutes } from '../server/documentation/routes.ts'
import type { Drain } from '../server/drain.ts'
import { eventOperations } from '../server/events/operations.ts'
import { graphqlBounds } from '../server/graphql/bounds.ts'
import { EventFeed } from '../server/graphql/event-feed.ts'
import { storedOperationOperations } from '../server/graphql/operations.ts'
import { graphqlRoutes } from '../server/graphql/routes.ts'
import { makeSchema } from '../server/graphql/schema.ts'
import { homeRoutes } from '../server/home.ts'
import { mcpAdmitter } from '../server/mcp/caller.ts'
import { mcpRoutes } from '../server/mcp/routes.ts'
import { mcpServer } from '../server/mcp/server.ts'
import { opsRoutes } from '../server/ops.ts'
import { requestPageRoutes } from '../server/request-page.ts'
import { missingAdminRoutes, operationRoutes } from '../server/rest/mount.ts'
import { scimRoutes } from '../server/scim/routes.ts'
import { foldsAllNames } from '../store/catalog-credential/name-case.ts'
import { findSessionCreator } from '../store/session/sessions.ts'
import type { Auth } from './assemble-auth.ts'
import type { Checks } from './assemble-checks.ts'
import type { ReadPath } from './assemble-read-path.ts'
import { databaseChecks, journalCheck } from './health-checks.ts'

interface RouteParts extends Pick<ReadPath, 'states' | 'queries' | 'seenRows'> {
  readonly features: readonly Feature[]
  readonly gateway: GatewayParts
  readonly auth: Auth
  readonly licensed: Licensed
  readonly provider: IdentityProvider | undefined
  readonly internalAdminOrgId: string | undefined
  readonly codec: DocumentCodec
  readonly checks: Checks
  readonly detection: Detection
  readonly drain: Drain
  readonly journal: AcceptedJournal | undefined
  /** The address that clients use; called only once the service listens. */
  readonly publicUrl: () => URL
}

/** Every route of the service. */
export function assembleRoutes(parts: RouteParts): Routes {
  const { gateway, auth, licensed, internalAdminOrgId, states, queries, codec, checks } = parts
  const { detection, drain, journal, publicUrl, seenRows } = parts
  const { store, policies, log, clock, metrics } = gateway
  const admitParts = {
    ...auth,
    licensed,
    internalAdminOrgId,
    findCreator: (session: Session) => findSessionCreator(store, session),
  }
  const admit = admitter(admitParts)
  const serveMcp = mcpServer({
    parts: { store, clock, states, queries, checkPolicies, checkStatement, codec, licensed },
    admit: mcpAdmitter({ ...admitParts, store, clock, publicUrl }),
    log,
    publicUrl,
    signsIn: parts.provider !== undefined,
  })
  const schema = makeSchema()
  const events = new EventFeed(store, log, graphqlBounds.eventsMs)
  drain.signal.addEventListener('abort', () => events.stop())
  const operations = [
    ...bind(storedOperationOperations, { store, schema }),
    ...bind(eventOperations, { store, clock, events, publicUrl, draining: drain.signal }),
    ...parts.features.flatMap((feature) => feature.operations),
  ]
  const admin = operations.filter(({ declaration }) => declaration.path.startsWith('/admin/'))
  return composeRoutes(
    [
      gatewayRoutes(gateway, auth),
      operationRoutes(operations, admit, log, (tenant) => foldsAllNames(store, tenant)),
      missingAdminRoutes(admin, admit, log),
      scimRoutes({ store, admit, log, metrics, publicUrl }),
      mcpRoutes(serveMcp, log),
      graphqlRoutes({
        parts: {
          ...{ store, clock, states, checkPolicies, warnPolicy, checkStatement, codec, checks },
          ...{ licensed, events, queries },
        },
        schema,
        admit,
        log,
        draining: drain.signal,
      }),
      homeRoutes(),
      requestPageRoutes({ store, clock, admit, log }),
      decisionPageRoutes({ store, clock, admit, seenRows, log }),
      apiViewerRoutes(),
      documentationRoutes(),
      opsRoutes({
        ...databaseChecks(store, log),
        ...journalCheck(journal, log),
        ready: () => ({
          policies: policies.ready(),
          detection: detection.ready(),
          accepting: drain.accepting,
        }),
      }),
    ],
    (fault) => log.error({ err: fault.cause ?? fault, faultId: fault.id }, 'a handler failed'),
  )
}
