/**
 * Lists the relations and functions of pg_catalog that a statement about the catalog may name. All others are
 * refused. The lists exclude every name that reads files or the network, runs SQL from a text, changes a setting,
 * takes locks, waits, signals, or shows what only a server's administrator may see.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Relations of pg_catalog. */
export const catalogRelations = words(`
  pg_aggregate pg_am pg_amop pg_amproc pg_attrdef pg_attribute pg_auth_members pg_available_extension_versions
  pg_available_extensions pg_cast pg_class pg_collation pg_constraint pg_conversion pg_cursors pg_database
  pg_db_role_setting pg_default_acl pg_depend pg_description pg_enum pg_event_trigger pg_extension
  pg_foreign_data_wrapper pg_foreign_server pg_foreign_table pg_group pg_index pg_indexes pg_inherits pg_init_privs
  pg_language pg_largeobject_metadata pg_locks pg_matviews pg_namespace pg_opclass pg_operator pg_opfamily pg_parameter_acl
  pg_partitioned_table pg_policies pg_policy pg_prepared_statements pg_prepared_xacts pg_proc pg_publication
  pg_publication_namespace pg_publication_rel pg_publication_tables pg_range pg_replication_slots pg_rewrite pg_roles
  pg_rules pg_seclabel pg_seclabels pg_sequence pg_sequences pg_settings pg_shdepend pg_shdescription pg_shseclabel
  pg_stat_activity pg_stat_all_indexes pg_stat_all_tables pg_stat_database pg_stat_gssapi pg_stat_replication
  pg_stat_ssl pg_stat_sys_indexes pg_stat_sys_tables pg_stat_user_functions pg_stat_user_indexes pg_stat_user_tables
  pg_statio_all_indexes pg_statio_all_sequences pg_statio_all_tables pg_statio_sys_tables pg_statio_user_indexes
  pg_statio_user_sequences pg_statio_user_tables pg_statistic_ext pg_stats pg_stats_ext pg_subscription
  pg_subscription_rel pg_tables pg_tablespace pg_timezone_abbrevs pg_timezone_names pg_transform pg_trigger
  pg_ts_config pg_ts_config_map pg_ts_dict pg_ts_parser pg_ts_template pg_type pg_user pg_user_mapping
  pg_user_mappings pg_views`)

/** Functions whose use makes a statement one about the catalog. */
export const catalogFunctions = words(`
  acldefault aclexplode col_description current_catalog current_database current_role current_schema current_schemas
  current_setting current_user format_type getdatabaseencoding has_any_column_privilege has_column_privilege
  has_database_privilege has_foreign_data_wrapper_privilege has_function_privilege has_language_privilege
  has_parameter_privilege has_schema_privilege has_sequence_privilege has_server_privilege has_table_privilege
  has_tablespace_privilege has_type_privilege inet_client_addr inet_client_port inet_server_addr inet_server_port
  makeaclitem obj_description pg_available_extension_versions pg_available_extensions pg_backend_pid pg_basetype
  pg_blocking_pids pg_char_to_encoding pg_client_encoding pg_collation_actual_version pg_collation_for
  pg_collation_is_visible pg_column_is_updatable pg_conf_load_time pg_conversion_is_visible pg_database_size
  pg_describe_object pg_encoding_max_length pg_encoding_to_char pg_function_is_visible pg_get_acl
  pg_get_catalog_foreign_keys pg_get_constraintdef pg_get_expr pg_get_function_arg_default pg_get_function_arguments
  pg_get_function_identity_arguments pg_get_function_result pg_get_function_sqlbody pg_get_functiondef pg_get_indexdef
  pg_get_keywords pg_get_object_address pg_get_partition_constraintdef pg_get_partkeydef pg_get_publication_tables
  pg_get_replica_identity_index pg_get_ruledef pg_get_serial_sequence pg_get_statisticsobjdef
  pg_get_statisticsobjdef_columns pg_get_statisticsobjdef_expressions pg_get_triggerdef pg_get_userbyid
  pg_get_viewdef pg_has_role pg_identify_object pg_identify_object_as_address pg_index_column_has_property
  pg_index_has_property pg_indexam_has_property pg_indexes_size pg_is_in_recovery pg_is_other_temp_schema
  pg_is_wal_replay_paused pg_jit_available pg_lock_status pg_my_temp_schema pg_opclass_is_visible
  pg_operator_is_visible pg_opfamily_is_visible pg_options_to_table pg_partition_ancestors pg_partition_root
  pg_partition_tree pg_postmaster_start_time pg_relation_filenode pg_relation_is_publishable pg_relation_is_updatable
  pg_relation_size pg_sequence_last_value pg_sequence_parameters pg_settings_get_flags pg_show_all_settings pg_size_bytes pg_size_pretty
  pg_stat_get_numscans pg_stat_get_live_tuples pg_stat_get_dead_tuples pg_stat_get_tuples_inserted
  pg_stat_get_tuples_updated pg_stat_get_tuples_deleted pg_stat_get_last_vacuum_time pg_stat_get_last_analyze_time
  pg_statistics_obj_is_visible pg_table_is_visible pg_table_size pg_tablespace_databases pg_tablespace_location
  pg_tablespace_size pg_total_relation_size pg_trigger_depth pg_ts_config_is_visible pg_ts_dict_is_visible
  pg_ts_parser_is_visible pg_ts_template_is_visible pg_type_is_visible row_security_active session_user ts_token_type
  shobj_description system_user to_regclass to_regcollation to_regnamespace to_regoper to_regoperator to_regproc
  to_regprocedure to_regrole to_regtype to_regtypemod txid_current_if_assigned txid_current_snapshot user version
  _pg_expandarray _pg_char_max_length _pg_char_octet_length _pg_datetime_precision _pg_index_position
  _pg_interval_type _pg_numeric_precision _pg_numeric_precision_radix _pg_numeric_scale _pg_truetypid _pg_truetypmod`)

/** Other functions that a statement about the catalog may use. */
export const plainFunctions = words(`
  abs age any_value array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims
  array_position array_positions array_prepend array_remove array_replace array_sort array_to_json array_to_string
  array_upper ascii avg bit_and bit_length bit_or bool bool_and bool_or btrim cardinality cbrt ceil ceiling char_length
  character_length chr clock_timestamp concat concat_ws convert_from convert_to count cume_dist date date_bin date_part
  date_trunc decode dense_rank div encode every exp extract first_value floor format gcd generate_series
  generate_subscripts get_bit get_byte greatest initcap int2 int4 int8 float4 float8 isfinite json_agg
  json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each
  json_each_text json_extract_path json_extract_path_text json_object json_object_agg json_object_keys
  json_strip_nulls json_to_record json_to_recordset json_typeof jsonb_agg jsonb_array_elements
  jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text
  jsonb_extract_path jsonb_extract_path_text jsonb_object jsonb_object_agg jsonb_object_keys jsonb_pretty jsonb_set
  jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours justify_interval lag
  last_value lcm lead least left length ln log lower lpad ltrim make_date make_interval make_time make_timestamp
  make_timestamptz max md5 min min_scale mod name normalize now nth_value nameconcatoid ntile num_nonnulls num_nulls numeric
  octet_length oid like_escape similar_escape similar_to_escape overlay parse_ident percent_rank percentile_cont percentile_disc pg_column_size pg_typeof position
  pow power quote_ident quote_literal quote_nullable radians random rank regclass regexp_count regexp_instr
  regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr
  repeat replace reverse right round row_number row_to_json rpad rtrim sha256 sign split_part sqrt starts_with
  statement_timestamp stddev string_agg string_to_array string_to_table strpos substr substring sum text time
  timeofday timestamp timestamptz timezone to_char to_date to_hex to_json to_jsonb to_number to_timestamp
  transaction_timestamp translate trim trim_array trim_scale trunc unnest upper varchar variance width_bucket`)
