/** Declares the verbs by name that an operator or an administrator has use for, besides those of `covenant admin`. */

import { listing, type NamedVerb, single } from './named-verb.ts'
import { rowsText } from './seen-text.ts'

export const operatorNamed: readonly NamedVerb[] = [
  single('whoami', 'get_own_session', '', 'Shows tenant, principal, roles and scopes of your session'),
  single(
    'service license',
    'get_license',
    '',
    'Shows what is licensed; takes the scope admin of the internal organization',
  ),
  single('service ready', 'get_readiness', '', 'Shows whether the service takes requests'),
  single('service health', 'get_health', '', 'Shows whether its database answers'),
  single('issuers', 'list_token_issuers', '', 'Lists issuers whose tokens the tenant trusts', {
    lists: 'whole',
    columns: ['name', 'issuer', 'audience', 'subject_prefix', 'roles_claim', 'changed_at'],
  }),
  single(
    'issuers put',
    'put_token_issuer',
    'NAME --issuer URL --audience TEXT [--authorized-parties CLIENT,…] [--organization-claim CLAIM] [--roles-claim CLAIM] [--subject-prefix TEXT] [--jwks-url URL]',
    'Trusts an issuer; takes the role owner',
    { examples: ['issuers put partner --issuer https://login.partner.example --audience covenant'] },
  ),
  single('issuers delete', 'delete_token_issuer', 'NAME', 'Trusts an issuer no longer'),
  listing('keys list', 'list_keys', '', 'Lists the keys of your tenant, with their ages', [
    ...['kind', 'id', 'name', 'state', 'age_seconds', 'until', 'version', 'count'],
  ]),
  single(
    'keys service',
    'list_service_keys',
    '',
    'Lists the keys that no tenant owns; takes the scope admin of the internal organization',
  ),
  single(
    'keys turn token-signing',
    'turn_token_signing_key',
    '',
    'Makes another key of access tokens; takes the scope admin of the internal organization',
  ),
  single(
    'keys turn plan-signing',
    'turn_plan_signing_key',
    '',
    'Makes another key of plans; takes the scope admin of the internal organization',
  ),
  single(
    'keys turn session',
    'turn_session_secret',
    'SESSION',
    'Gives a service session another secret, which is shown only once; the one before is refused from then on',
  ),
  single(
    'keys turn webhook',
    'rotate_webhook_secret',
    'WEBHOOK [--overlap-hours N]',
    'Makes a new secret of a webhook; the one before signs beside it for some hours',
  ),
  single(
    'keys turn transform',
    'rotate_transform_scope',
    'SCOPE',
    'Begins a new key of a scope of the transform; older values stay readable',
  ),
  single(
    'settings provisioning',
    'get_provisioning',
    '',
    'Shows how provisioned people are matched, and where their roles come from',
  ),
  single(
    'settings provisioning put',
    'put_provisioning',
    '--claim sub|email --attribute userName|externalId|email --roles-from token|groups',
    'Sets both; ends browser sessions; takes the role owner',
    { examples: ['settings provisioning put --claim sub --attribute userName --roles-from groups'] },
  ),
  single('webhooks show', 'get_webhook', 'WEBHOOK', 'Shows a webhook'),
  single('policies try', 'try_policy', 'FILE', 'Tries a policy on a commit, as JSON'),
  single('graph query', 'query_graph', 'QUERY [--parameters JSON] [--limit N]', 'Asks the graph by Cypher', {
    text: rowsText,
  }),
  listing('graphql operations', 'list_graphql_operations', '', 'Lists stored operations of GraphQL', [
    'sha256',
    'stored_at',
  ]),
  single(
    'graphql store',
    'store_graphql_operation',
    'FILE',
    'Stores an operation of GraphQL, as JSON: document',
  ),
  single('graphql delete', 'delete_graphql_operation', 'SHA256', 'Deletes a stored operation'),
]
