-- Scans that did not cover all, alerts that were sent, and values inside text.

-- `partial`: ended well, but left files out or met files that cannot be read.
alter table svc.detection_run drop constraint detection_run_state_check,
  add constraint detection_run_state_check check (state in ('queued', 'running', 'done', 'partial', 'failed'));
alter table svc.detection_attempt drop constraint detection_attempt_outcome_check,
  add constraint detection_attempt_outcome_check check (outcome in ('done', 'partial', 'failed', 'lost'));

-- When the last alert of the run was sent. A finding counts as told only then.
alter table svc.detection_run add column alerted_at timestamptz;
grant update (alerted_at) on svc.detection_run to svc_tenant, svc_admin;
-- Whether an alert of earlier versions was sent or given up is not known. It was told in both cases.
set local role svc_admin;
update svc.detection_run set alerted_at = finished_at where alert_tries > 0 and alert_due is null;
set local role svc_owner;
revoke update (alerted_at) on svc.detection_run from svc_admin;

-- A value inside text: 0.60; 0.86 where half of the cells hold one; 0.88 where the name says so too.
alter table svc.detection_finding drop constraint detection_finding_shape_check,
  add constraint detection_finding_shape_check
    check (shape in ('name', 'value', 'name_and_value', 'value_in_text', 'name_and_value_in_text')),
  drop constraint detection_finding_confidence_check,
  add constraint detection_finding_confidence_check check (confidence in (0.55, 0.60, 0.65, 0.86, 0.88, 0.92));
