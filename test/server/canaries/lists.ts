/** What the walk does not find as it should be, each by name. */

/** Operations, fields and tools whose answers hold what their caller may not learn, and that are to be mended. */
export const knownLeaks: readonly string[] = []

/** Operations that answer otherwise about a hidden table or metric than about one that is not there; to be mended too. */
export const knownDifferences: readonly string[] = []

/**
 * Operations that answer what the caller's own catalog holds. In the walk both tenants have credentials of one catalog, so
 * names and columns of the other tenant's tables are the catalog's to tell; test/admin/adopt.test.ts holds that a tenant
 * without the credential learns nothing.
 */
export const ofOwnCatalog: readonly string[] = [
  'list_catalog_namespaces',
  'list_catalog_tables',
  'propose_table_document',
]

const words = (text: string) => text.trim().split(/\s+/)
const each = (names: readonly string[], reason: string) =>
  Object.fromEntries(names.map((name) => [name, reason]))

/** Reading operations that the walk may fail to have answered with success, each with the reason. */
export const unreached: Readonly<Record<string, string>> = {
  ...each(
    words(`
  authorize begin_login complete_login consent get_authorization_server
  get_protected_resource get_protected_resource_at_root issue_token log_out log_out_at_provider
  receive_alpha_webhook receive_billing_event receive_identity_event receive_logout
`),
    'It needs an identity provider, a browser, or the signature of a provider.',
  ),
  ...each(
    words('get_audit_checkpoint get_audit_proof get_audit_consistency'),
    'No key of the audit is set, so nothing is signed: see test/audit.',
  ),
  ...each(
    words(`
  detach_month get_access_request get_loosening
  locate_differences release_snapshot release_tenant_snapshot request_reconciliation settle_intent
  settle_proven_intents settle_tenant_intent settle_tenant_proven_intents
  verify_month
`),
    'Nothing is planted that it shows; its own tests hold its answers.',
  ),
  ...each(
    words('request_access revoke_access_grant'),
    'It asks for access, or ends it; its own tests hold its answers.',
  ),
  who_read: 'It takes two times in order, which its schema does not tell; its own tests hold its answers.',
}
