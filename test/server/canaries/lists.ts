/** What the walk does not find as it should be, each by name. */

/** Operations, fields and tools whose answers hold what their caller may not learn, and that are to be mended. */
export const knownLeaks: readonly string[] = []

/** Operations that answer otherwise about a hidden table or metric than about one that is not there; to be mended too. */
export const knownDifferences: readonly string[] = []

const words = (text: string) => text.trim().split(/\s+/)
const each = (names: readonly string[], reason: string) =>
  Object.fromEntries(names.map((name) => [name, reason]))

/** Operations that the walk may fail to have answered with success, each with the reason. */
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
    words(`
  detach_month get_tenant_webhook_delivery get_webhook_delivery list_staged_files list_tenant_staged_files
  locate_differences release_snapshot release_tenant_snapshot request_reconciliation settle_intent
  settle_tenant_intent show_intent show_quarantined_snapshot show_tenant_intent show_tenant_quarantined_snapshot
  verify_month
`),
    'Nothing is planted that it shows; its own tests hold its answers.',
  ),
  ...each(
    words(`
  add_contract_version attest_metric cancel_check_run cancel_tenant_check_run change_catalog
  change_tenant_webhook create_tenant_webhook create_webhook delete_column_row_filter delete_column_transform_reveal
  delete_graphql_operation delete_policy delete_table_row_filter delete_tenant_policy delete_tenant_retention
  delete_tenant_webhook delete_tenant_workload_trust deny_session deny_tenant_session derive_tenant_territory
  derive_territory edit_contract_document end_attestation end_session grant_tenant_territory
  hand_tenant_territory_over hand_territory_over import_semantics import_tenant_semantics issue_subject_keys
  map_tenant_dataset_namespace mint_session move_contract_version move_metric pin_table
  propose_contract_documents put_catalog put_column_row_filter put_column_transform_reveal put_contract_document
  put_metric put_policy put_reconciliation_source put_table_row_filter put_tenant_policy
  put_tenant_reconciliation_source put_tenant_trusted_engine put_tenant_workload_trust put_trusted_engine receive_lineage_event
  release_tenant_territory release_territory remove_catalog remove_reconciliation_source remove_tenant_reconciliation_source
  replay_tenant_webhook report_check_results resume_check_run resume_tenant resume_tenant_check_run
  revoke_tenant_territory revoke_territory rotate_tenant_webhook_secret shred_transform_subject sign_contract_version
  unbind_policy unbind_tenant_policy unmap_dataset_namespace unmap_tenant_dataset_namespace
  get_loosening sign_loosening grant_territory
`),
    'It is a change whose input depends on a state or a value that its schema does not tell.',
  ),
}
