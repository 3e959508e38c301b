/** Declares the verbs of changes that loosen who sees what, and wait for another steward. */

import { listing, type NamedVerb, single } from './named-verb.ts'

export const loosenings: readonly NamedVerb[] = [
  listing(
    'loosenings',
    'list_loosenings',
    '',
    'Lists changes that loosen who sees what, and what each waits for',
    ['requested_at', 'state', 'action', 'contracts', 'by=requested_by.sub', 'findings', 'id'],
  ),
  single('loosenings show', 'get_loosening', 'ID', 'Shows one, with its findings and its hash'),
  single('loosenings sign', 'sign_loosening', 'ID --sha256 HASH [--comment TEXT]', 'Signs one', {
    details: '--sha256 is what `loosenings show` printed, so that nothing else is signed than what you read.',
  }),
]
