{% snapshot orders_history %}
{{ config(target_schema='history', unique_key='id', strategy='check', check_cols='all') }}
select * from {{ ref('orders') }}
{% endsnapshot %}
