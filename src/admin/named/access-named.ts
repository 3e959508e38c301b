/** Declares the verbs by name for access that is asked for, decided, granted for a time, and revoked. */

import { listing, type NamedVerb, single } from './named-verb.ts'

export const access: readonly NamedVerb[] = [
  listing(
    'access',
    'list_access_grants',
    '[--open] [--everyone] [--table TABLE]',
    'Lists what access you have, why and until when',
    ['table', 'purpose', 'from', 'until', 'grantee', 'ended_at', 'id'],
  ),
  single(
    'access request',
    'request_access',
    'TABLE --purpose TEXT --seconds N [--columns NAMES] [--filters IDS] [--policies IDS] [--role ROLE] [--ticket TEXT]',
    'Asks for access to what is hidden of a table',
    {
      details:
        'Without --columns, --filters and --policies it is for all that filters and masks hide from you. With --policies it is for commits that these policies refuse.',
      examples: ["access request sales.orders --columns email --purpose 'Refund 4711' --seconds 7200"],
    },
  ),
  listing(
    'access requests',
    'list_access_requests',
    '[--state waiting|granted|denied|withdrawn|expired] [--everyone] [--table TABLE]',
    'Lists requests for access',
    ['requested_at', 'state', 'table', 'by=requested_by.sub', 'purpose', 'id'],
    { examples: ['access requests --everyone --state waiting'] },
  ),
  single('access show', 'get_access_request', 'ID', 'Shows a request, and what it would reveal'),
  single(
    'access decide',
    'decide_access_request',
    'ID --approves true|false --sha256 HASH [--comment TEXT]',
    'Approves or denies a request that somebody else made',
    {
      details: '--sha256 is what `access show` printed, so that nothing else is decided than what you read.',
    },
  ),
  single('access withdraw', 'withdraw_access_request', 'ID', 'Withdraws a request of yours'),
  single('access revoke', 'revoke_access_grant', 'ID --reason TEXT', 'Ends a grant at once'),
]
