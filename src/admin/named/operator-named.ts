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
    'NAME --issuer URL --audience TEXT [--organization-claim CLAIM] [--roles-claim CLAIM] [--subject-prefix TEXT] [--jwks-url URL]',
    'Trusts an issuer; takes the role owner',
    { examples: ['issuers put partner --issuer https://login.partner.example --audience covenant'] },
  ),
  single('issuers delete', 'delete_token_issuer', 'NAME', 'Trusts an issuer no longer'),
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
