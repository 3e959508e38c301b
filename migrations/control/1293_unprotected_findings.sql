-- Findings of values that no writer protected, in columns that the transform protects (docs/reference/transform.md 10).
alter table svc.detection_finding drop constraint detection_finding_class_check;
alter table svc.detection_finding add constraint detection_finding_class_check
  check (class in ('us_ssn', 'email', 'credit_card', 'phone', 'iban', 'unprotected'));
