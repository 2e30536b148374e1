/** The tables of AzuraCast 0.23.7: their columns and the columns of the primary key. */
export const tables: Readonly<
  Record<
    string,
    { readonly columns: readonly (readonly [name: string, type: string])[]; readonly key: string }
  >
> = {
  analytics: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) DEFAULT NULL'],
      ['type', 'varchar(15) NOT NULL'],
      ['number_min', 'int(11) NOT NULL'],
      ['number_max', 'int(11) NOT NULL'],
      ['number_avg', 'decimal(10,2) NOT NULL'],
      ['moment', 'datetime NOT NULL'],
      ['number_unique', 'int(11) DEFAULT NULL']
    ]
  },
  api_keys: {
    key: 'id',
    columns: [
      ['id', 'varchar(16) NOT NULL'],
      ['user_id', 'int(11) NOT NULL'],
      ['verifier', 'varchar(128) NOT NULL'],
      ['comment', 'varchar(255) NOT NULL']
    ]
  },
  app_migrations: {
    key: 'version',
    columns: [
      ['version', 'varchar(191) NOT NULL'],
      ['executed_at', 'datetime DEFAULT NULL'],
      ['execution_time', 'int(11) DEFAULT NULL']
    ]
  },
  audit_log: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['timestamp', 'datetime(6) NOT NULL'],
      ['operation', 'smallint(6) NOT NULL'],
      ['class', 'varchar(255) NOT NULL'],
      ['identifier', 'varchar(255) NOT NULL'],
      ['target_class', 'varchar(255) DEFAULT NULL'],
      ['target', 'varchar(255) DEFAULT NULL'],
      ['changes', 'longtext NOT NULL'],
      ['user', 'varchar(255) DEFAULT NULL']
    ]
  },
  custom_field: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['name', 'varchar(255) NOT NULL'],
      ['short_name', 'varchar(100) NOT NULL'],
      ['auto_assign', 'varchar(100) DEFAULT NULL']
    ]
  },
  listener: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['listener_uid', 'int(11) NOT NULL'],
      ['listener_ip', 'varchar(45) NOT NULL'],
      ['listener_user_agent', 'varchar(255) NOT NULL'],
      ['timestamp_start', 'datetime(6) NOT NULL'],
      ['timestamp_end', 'datetime(6) DEFAULT NULL'],
      ['listener_hash', 'varchar(32) NOT NULL'],
      ['mount_id', 'int(11) DEFAULT NULL'],
      ['remote_id', 'int(11) DEFAULT NULL'],
      ['location_description', 'varchar(255) NOT NULL'],
      ['location_region', 'varchar(150) DEFAULT NULL'],
      ['location_city', 'varchar(150) DEFAULT NULL'],
      ['location_country', 'varchar(2) DEFAULT NULL'],
      ['location_lat', 'decimal(10,6) DEFAULT NULL'],
      ['location_lon', 'decimal(10,6) DEFAULT NULL'],
      ['device_client', 'varchar(255) NOT NULL'],
      ['device_is_browser', 'tinyint(1) NOT NULL'],
      ['device_is_mobile', 'tinyint(1) NOT NULL'],
      ['device_is_bot', 'tinyint(1) NOT NULL'],
      ['device_browser_family', 'varchar(150) DEFAULT NULL'],
      ['device_os_family', 'varchar(150) DEFAULT NULL'],
      ['hls_stream_id', 'int(11) DEFAULT NULL']
    ]
  },
  podcast: {
    key: 'id',
    columns: [
      ['id', 'char(36) NOT NULL'],
      ['storage_location_id', 'int(11) NOT NULL'],
      ['title', 'varchar(255) NOT NULL'],
      ['link', 'varchar(255) DEFAULT NULL'],
      ['description', 'longtext NOT NULL'],
      ['is_enabled', 'tinyint(1) NOT NULL'],
      ['language', 'varchar(2) NOT NULL'],
      ['art_updated_at', 'int(11) NOT NULL'],
      ['author', 'varchar(255) NOT NULL'],
      ['email', 'varchar(255) NOT NULL'],
      ['playlist_id', 'int(11) DEFAULT NULL'],
      ['source', 'varchar(50) NOT NULL'],
      ['playlist_auto_publish', 'tinyint(1) NOT NULL'],
      ['branding_config', 'longtext DEFAULT NULL'],
      ['explicit', 'tinyint(1) NOT NULL']
    ]
  },
  podcast_category: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['podcast_id', 'char(36) NOT NULL'],
      ['category', 'varchar(255) NOT NULL']
    ]
  },
  podcast_episode: {
    key: 'id',
    columns: [
      ['id', 'char(36) NOT NULL'],
      ['podcast_id', 'char(36) NOT NULL'],
      ['title', 'varchar(255) NOT NULL'],
      ['link', 'varchar(255) DEFAULT NULL'],
      ['description', 'longtext NOT NULL'],
      ['publish_at', 'int(11) NOT NULL'],
      ['explicit', 'tinyint(1) NOT NULL'],
      ['created_at', 'int(11) NOT NULL'],
      ['art_updated_at', 'int(11) NOT NULL'],
      ['playlist_media_id', 'int(11) DEFAULT NULL'],
      ['season_number', 'int(11) DEFAULT NULL'],
      ['episode_number', 'int(11) DEFAULT NULL']
    ]
  },
  podcast_media: {
    key: 'id',
    columns: [
      ['id', 'char(36) NOT NULL'],
      ['storage_location_id', 'int(11) NOT NULL'],
      ['episode_id', 'char(36) DEFAULT NULL'],
      ['original_name', 'varchar(200) NOT NULL'],
      ['length', 'decimal(7,2) NOT NULL'],
      ['length_text', 'varchar(10) NOT NULL'],
      ['path', 'varchar(500) NOT NULL'],
      ['mime_type', 'varchar(255) NOT NULL'],
      ['modified_time', 'int(11) NOT NULL'],
      ['art_updated_at', 'int(11) NOT NULL']
    ]
  },
  relays: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['base_url', 'varchar(255) NOT NULL'],
      ['name', 'varchar(100) DEFAULT NULL'],
      ['is_visible_on_public_pages', 'tinyint(1) NOT NULL'],
      ['created_at', 'datetime(6) NOT NULL'],
      ['updated_at', 'datetime(6) NOT NULL']
    ]
  },
  role: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['name', 'varchar(100) NOT NULL']
    ]
  },
  role_permissions: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['role_id', 'int(11) NOT NULL'],
      ['station_id', 'int(11) DEFAULT NULL'],
      ['action_name', 'varchar(50) NOT NULL']
    ]
  },
  settings: {
    key: 'app_unique_identifier',
    columns: [
      ['app_unique_identifier', 'char(36) NOT NULL'],
      ['base_url', 'varchar(255) DEFAULT NULL'],
      ['instance_name', 'varchar(255) DEFAULT NULL'],
      ['prefer_browser_url', 'tinyint(1) NOT NULL'],
      ['use_radio_proxy', 'tinyint(1) NOT NULL'],
      ['history_keep_days', 'smallint(6) NOT NULL'],
      ['always_use_ssl', 'tinyint(1) NOT NULL'],
      ['api_access_control', 'varchar(255) DEFAULT NULL'],
      ['enable_liquidsoap_editing', 'tinyint(4) NOT NULL'],
      ['enable_static_nowplaying', 'tinyint(1) NOT NULL'],
      ['analytics', 'varchar(50) DEFAULT NULL'],
      ['check_for_updates', 'tinyint(1) NOT NULL'],
      ['update_results', 'longtext DEFAULT NULL'],
      ['update_last_run', 'int(11) NOT NULL'],
      ['public_theme', 'varchar(50) DEFAULT NULL'],
      ['hide_album_art', 'tinyint(1) NOT NULL'],
      ['homepage_redirect_url', 'varchar(255) DEFAULT NULL'],
      ['default_album_art_url', 'varchar(255) DEFAULT NULL'],
      ['use_external_album_art_when_processing_media', 'tinyint(1) NOT NULL'],
      ['use_external_album_art_in_apis', 'tinyint(1) NOT NULL'],
      ['last_fm_api_key', 'varchar(255) DEFAULT NULL'],
      ['hide_product_name', 'tinyint(1) NOT NULL'],
      ['public_custom_css', 'longtext DEFAULT NULL'],
      ['public_custom_js', 'longtext DEFAULT NULL'],
      ['internal_custom_css', 'longtext DEFAULT NULL'],
      ['backup_enabled', 'tinyint(1) NOT NULL'],
      ['backup_time_code', 'varchar(4) DEFAULT NULL'],
      ['backup_exclude_media', 'tinyint(1) NOT NULL'],
      ['backup_keep_copies', 'smallint(6) NOT NULL'],
      ['backup_storage_location', 'int(11) DEFAULT NULL'],
      ['backup_last_run', 'int(11) NOT NULL'],
      ['backup_last_output', 'longtext DEFAULT NULL'],
      ['setup_complete_time', 'int(11) NOT NULL'],
      ['external_ip', 'varchar(45) DEFAULT NULL'],
      ['geolite_license_key', 'varchar(255) DEFAULT NULL'],
      ['geolite_last_run', 'int(11) NOT NULL'],
      ['mail_enabled', 'tinyint(1) NOT NULL'],
      ['mail_sender_name', 'varchar(255) DEFAULT NULL'],
      ['mail_sender_email', 'varchar(255) DEFAULT NULL'],
      ['mail_smtp_host', 'varchar(255) DEFAULT NULL'],
      ['mail_smtp_port', 'smallint(6) NOT NULL'],
      ['mail_smtp_username', 'varchar(255) DEFAULT NULL'],
      ['mail_smtp_password', 'varchar(255) DEFAULT NULL'],
      ['mail_smtp_secure', 'tinyint(1) NOT NULL'],
      ['avatar_service', 'varchar(25) DEFAULT NULL'],
      ['avatar_default_url', 'varchar(255) DEFAULT NULL'],
      ['sync_disabled', 'tinyint(1) NOT NULL'],
      ['sync_last_run', 'int(11) NOT NULL'],
      ['backup_format', 'varchar(255) DEFAULT NULL'],
      ['acme_email', 'varchar(255) DEFAULT NULL'],
      ['acme_domains', 'varchar(255) DEFAULT NULL'],
      ['ip_source', 'varchar(50) DEFAULT NULL'],
      ['enable_all_webhooks', 'tinyint(4) NOT NULL'],
      ['filter_local_user_urls', 'tinyint(4) NOT NULL']
    ]
  },
  sftp_user: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['username', 'varchar(32) NOT NULL'],
      ['password', 'varchar(255) NOT NULL'],
      ['public_keys', 'longtext DEFAULT NULL']
    ]
  },
  song_history: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['song_id', 'varchar(50) NOT NULL'],
      ['station_id', 'int(11) NOT NULL'],
      ['timestamp_start', 'datetime(6) NOT NULL'],
      ['listeners_start', 'int(11) DEFAULT NULL'],
      ['timestamp_end', 'datetime(6) DEFAULT NULL'],
      ['listeners_end', 'int(11) DEFAULT NULL'],
      ['delta_total', 'int(11) NOT NULL'],
      ['delta_positive', 'int(11) NOT NULL'],
      ['delta_negative', 'int(11) NOT NULL'],
      ['delta_points', 'longtext DEFAULT NULL'],
      ['playlist_id', 'int(11) DEFAULT NULL'],
      ['request_id', 'int(11) DEFAULT NULL'],
      ['unique_listeners', 'int(11) DEFAULT NULL'],
      ['media_id', 'int(11) DEFAULT NULL'],
      ['duration', 'double DEFAULT NULL'],
      ['streamer_id', 'int(11) DEFAULT NULL'],
      ['text', 'varchar(512) DEFAULT NULL'],
      ['artist', 'varchar(255) DEFAULT NULL'],
      ['title', 'varchar(255) DEFAULT NULL'],
      ['album', 'varchar(200) DEFAULT NULL'],
      ['is_visible', 'tinyint(1) NOT NULL']
    ]
  },
  station: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['name', 'varchar(100) NOT NULL'],
      ['frontend_type', 'varchar(100) NOT NULL'],
      ['frontend_config', 'longtext DEFAULT NULL'],
      ['backend_type', 'varchar(100) NOT NULL'],
      ['backend_config', 'longtext DEFAULT NULL'],
      ['description', 'longtext DEFAULT NULL'],
      ['enable_requests', 'tinyint(1) NOT NULL'],
      ['request_delay', 'int(11) DEFAULT NULL'],
      ['enable_streamers', 'tinyint(1) NOT NULL'],
      ['needs_restart', 'tinyint(1) NOT NULL'],
      ['request_threshold', 'int(11) DEFAULT NULL'],
      ['url', 'varchar(255) DEFAULT NULL'],
      ['radio_base_dir', 'varchar(255) NOT NULL'],
      ['has_started', 'tinyint(1) NOT NULL'],
      ['adapter_api_key', 'varchar(150) DEFAULT NULL'],
      ['enable_public_page', 'tinyint(1) NOT NULL'],
      ['enable_public_api', 'tinyint(4) NOT NULL'],
      ['short_name', 'varchar(100) NOT NULL'],
      ['current_streamer_id', 'int(11) DEFAULT NULL'],
      ['is_streamer_live', 'tinyint(1) NOT NULL'],
      ['is_enabled', 'tinyint(1) NOT NULL'],
      ['api_history_items', 'smallint(6) NOT NULL'],
      ['disconnect_deactivate_streamer', 'int(11) DEFAULT 0'],
      ['genre', 'varchar(255) DEFAULT NULL'],
      ['timezone', 'varchar(100) NOT NULL'],
      ['enable_on_demand', 'tinyint(1) NOT NULL'],
      ['media_storage_location_id', 'int(11) NOT NULL'],
      ['recordings_storage_location_id', 'int(11) NOT NULL'],
      ['enable_on_demand_download', 'tinyint(1) NOT NULL'],
      ['podcasts_storage_location_id', 'int(11) NOT NULL'],
      ['fallback_path', 'varchar(255) DEFAULT NULL'],
      ['enable_hls', 'tinyint(1) NOT NULL'],
      ['current_song_id', 'int(11) DEFAULT NULL'],
      ['branding_config', 'longtext DEFAULT NULL'],
      ['max_bitrate', 'smallint(6) NOT NULL DEFAULT 0'],
      ['max_mounts', 'smallint(6) NOT NULL DEFAULT 0'],
      ['max_hls_streams', 'smallint(6) NOT NULL DEFAULT 0']
    ]
  },
  station_hls_streams: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['name', 'varchar(100) NOT NULL'],
      ['format', 'varchar(10) DEFAULT NULL'],
      ['bitrate', 'smallint(6) DEFAULT NULL'],
      ['listeners', 'int(11) NOT NULL']
    ]
  },
  station_media: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['song_id', 'varchar(50) NOT NULL'],
      ['title', 'varchar(255) DEFAULT NULL'],
      ['artist', 'varchar(255) DEFAULT NULL'],
      ['album', 'varchar(200) DEFAULT NULL'],
      ['length', 'double NOT NULL'],
      ['path', 'varchar(500) NOT NULL'],
      ['mtime', 'int(11) NOT NULL'],
      ['uploaded_at', 'int(11) NOT NULL'],
      ['isrc', 'varchar(15) DEFAULT NULL'],
      ['lyrics', 'longtext DEFAULT NULL'],
      ['unique_id', 'varchar(25) NOT NULL'],
      ['art_updated_at', 'int(11) NOT NULL'],
      ['text', 'varchar(512) DEFAULT NULL'],
      ['genre', 'varchar(255) DEFAULT NULL'],
      ['storage_location_id', 'int(11) NOT NULL'],
      ['extra_metadata', 'longtext DEFAULT NULL']
    ]
  },
  station_media_custom_field: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['media_id', 'int(11) NOT NULL'],
      ['field_id', 'int(11) NOT NULL'],
      ['field_value', 'varchar(255) DEFAULT NULL']
    ]
  },
  station_mounts: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['name', 'varchar(100) NOT NULL'],
      ['is_default', 'tinyint(1) NOT NULL'],
      ['fallback_mount', 'varchar(100) DEFAULT NULL'],
      ['enable_autodj', 'tinyint(1) NOT NULL'],
      ['autodj_format', 'varchar(10) DEFAULT NULL'],
      ['autodj_bitrate', 'smallint(6) DEFAULT NULL'],
      ['frontend_config', 'longtext DEFAULT NULL'],
      ['relay_url', 'varchar(255) DEFAULT NULL'],
      ['is_public', 'tinyint(1) NOT NULL'],
      ['authhash', 'varchar(255) DEFAULT NULL'],
      ['custom_listen_url', 'varchar(255) DEFAULT NULL'],
      ['display_name', 'varchar(255) NOT NULL'],
      ['is_visible_on_public_pages', 'tinyint(1) NOT NULL'],
      ['listeners_unique', 'int(11) NOT NULL'],
      ['listeners_total', 'int(11) NOT NULL'],
      ['max_listener_duration', 'int(11) NOT NULL'],
      ['intro_path', 'varchar(255) DEFAULT NULL']
    ]
  },
  station_playlist_folders: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['playlist_id', 'int(11) NOT NULL'],
      ['path', 'varchar(500) NOT NULL']
    ]
  },
  station_playlist_media: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['playlist_id', 'int(11) NOT NULL'],
      ['media_id', 'int(11) NOT NULL'],
      ['weight', 'int(11) NOT NULL'],
      ['last_played', 'int(11) NOT NULL'],
      ['is_queued', 'tinyint(1) NOT NULL'],
      ['folder_id', 'int(11) DEFAULT NULL']
    ]
  },
  station_playlists: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['name', 'varchar(200) NOT NULL'],
      ['description', 'longtext DEFAULT NULL'],
      ['type', 'varchar(50) NOT NULL'],
      ['is_enabled', 'tinyint(1) NOT NULL'],
      ['play_per_songs', 'smallint(6) NOT NULL'],
      ['play_per_minutes', 'smallint(6) NOT NULL'],
      ['weight', 'smallint(6) NOT NULL'],
      ['source', 'varchar(50) NOT NULL'],
      ['include_in_requests', 'tinyint(1) NOT NULL'],
      ['playback_order', 'varchar(50) NOT NULL'],
      ['remote_url', 'varchar(255) DEFAULT NULL'],
      ['remote_type', 'varchar(25) DEFAULT NULL'],
      ['is_jingle', 'tinyint(1) NOT NULL'],
      ['play_per_hour_minute', 'smallint(6) NOT NULL'],
      ['remote_timeout', 'smallint(6) NOT NULL'],
      ['backend_options', 'varchar(255) DEFAULT NULL'],
      ['played_at', 'datetime(6) DEFAULT NULL'],
      ['include_in_on_demand', 'tinyint(1) NOT NULL'],
      ['avoid_duplicates', 'tinyint(1) NOT NULL'],
      ['queue_reset_at', 'datetime(6) DEFAULT NULL']
    ]
  },
  station_queue: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['song_id', 'varchar(50) NOT NULL'],
      ['station_id', 'int(11) NOT NULL'],
      ['playlist_id', 'int(11) DEFAULT NULL'],
      ['media_id', 'int(11) DEFAULT NULL'],
      ['request_id', 'int(11) DEFAULT NULL'],
      ['sent_to_autodj', 'tinyint(1) NOT NULL'],
      ['autodj_custom_uri', 'varchar(255) DEFAULT NULL'],
      ['timestamp_cued', 'datetime(6) NOT NULL'],
      ['duration', 'double DEFAULT NULL'],
      ['text', 'varchar(512) DEFAULT NULL'],
      ['artist', 'varchar(255) DEFAULT NULL'],
      ['title', 'varchar(255) DEFAULT NULL'],
      ['album', 'varchar(200) DEFAULT NULL'],
      ['is_played', 'tinyint(1) NOT NULL'],
      ['timestamp_played', 'datetime(6) DEFAULT NULL'],
      ['is_visible', 'tinyint(1) NOT NULL']
    ]
  },
  station_remotes: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['type', 'varchar(50) NOT NULL'],
      ['enable_autodj', 'tinyint(1) NOT NULL'],
      ['autodj_format', 'varchar(10) DEFAULT NULL'],
      ['autodj_bitrate', 'smallint(6) DEFAULT NULL'],
      ['custom_listen_url', 'varchar(255) DEFAULT NULL'],
      ['url', 'varchar(255) NOT NULL'],
      ['mount', 'varchar(150) DEFAULT NULL'],
      ['source_username', 'varchar(100) DEFAULT NULL'],
      ['source_password', 'varchar(100) DEFAULT NULL'],
      ['source_port', 'smallint(5) unsigned DEFAULT NULL'],
      ['source_mount', 'varchar(150) DEFAULT NULL'],
      ['is_public', 'tinyint(1) NOT NULL'],
      ['display_name', 'varchar(255) NOT NULL'],
      ['is_visible_on_public_pages', 'tinyint(1) NOT NULL'],
      ['relay_id', 'int(11) DEFAULT NULL'],
      ['listeners_unique', 'int(11) NOT NULL'],
      ['listeners_total', 'int(11) NOT NULL'],
      ['admin_password', 'varchar(100) DEFAULT NULL']
    ]
  },
  station_requests: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['track_id', 'int(11) NOT NULL'],
      ['timestamp', 'datetime(6) NOT NULL'],
      ['played_at', 'datetime(6) DEFAULT NULL'],
      ['ip', 'varchar(40) NOT NULL'],
      ['skip_delay', 'tinyint(1) NOT NULL']
    ]
  },
  station_schedules: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['playlist_id', 'int(11) DEFAULT NULL'],
      ['streamer_id', 'int(11) DEFAULT NULL'],
      ['start_time', 'smallint(6) NOT NULL'],
      ['end_time', 'smallint(6) NOT NULL'],
      ['start_date', 'varchar(10) DEFAULT NULL'],
      ['end_date', 'varchar(10) DEFAULT NULL'],
      ['days', 'varchar(50) DEFAULT NULL'],
      ['loop_once', 'tinyint(1) NOT NULL']
    ]
  },
  station_streamer_broadcasts: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['streamer_id', 'int(11) NOT NULL'],
      ['timestamp_start', 'datetime(6) NOT NULL'],
      ['timestamp_end', 'datetime(6) DEFAULT NULL'],
      ['recording_path', 'varchar(255) DEFAULT NULL']
    ]
  },
  station_streamers: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['streamer_username', 'varchar(50) NOT NULL'],
      ['streamer_password', 'varchar(255) NOT NULL'],
      ['comments', 'longtext DEFAULT NULL'],
      ['is_active', 'tinyint(1) NOT NULL'],
      ['display_name', 'varchar(255) NOT NULL'],
      ['reactivate_at', 'int(11) DEFAULT NULL'],
      ['enforce_schedule', 'tinyint(1) NOT NULL'],
      ['art_updated_at', 'int(11) NOT NULL']
    ]
  },
  station_webhooks: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['station_id', 'int(11) NOT NULL'],
      ['type', 'varchar(100) NOT NULL'],
      ['is_enabled', 'tinyint(1) NOT NULL'],
      ['triggers', 'longtext DEFAULT NULL'],
      ['config', 'longtext DEFAULT NULL'],
      ['name', 'varchar(100) DEFAULT NULL'],
      ['metadata', 'longtext DEFAULT NULL']
    ]
  },
  storage_location: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['type', 'varchar(50) NOT NULL'],
      ['adapter', 'varchar(50) NOT NULL'],
      ['path', 'varchar(255) NOT NULL'],
      ['s3_credential_key', 'varchar(255) DEFAULT NULL'],
      ['s3_credential_secret', 'varchar(255) DEFAULT NULL'],
      ['s3_region', 'varchar(150) DEFAULT NULL'],
      ['s3_version', 'varchar(150) DEFAULT NULL'],
      ['s3_bucket', 'varchar(255) DEFAULT NULL'],
      ['s3_endpoint', 'varchar(255) DEFAULT NULL'],
      ['storage_quota', 'bigint(20) DEFAULT NULL'],
      ['storage_used', 'bigint(20) DEFAULT NULL'],
      ['dropbox_auth_token', 'varchar(255) DEFAULT NULL'],
      ['sftp_host', 'varchar(255) DEFAULT NULL'],
      ['sftp_username', 'varchar(255) DEFAULT NULL'],
      ['sftp_password', 'varchar(255) DEFAULT NULL'],
      ['sftp_port', 'int(11) DEFAULT NULL'],
      ['sftp_private_key', 'longtext DEFAULT NULL'],
      ['sftp_private_key_pass_phrase', 'varchar(255) DEFAULT NULL'],
      ['dropbox_app_key', 'varchar(50) DEFAULT NULL'],
      ['dropbox_app_secret', 'varchar(150) DEFAULT NULL'],
      ['dropbox_refresh_token', 'varchar(255) DEFAULT NULL'],
      ['s3_use_path_style', 'tinyint(1) DEFAULT NULL']
    ]
  },
  unprocessable_media: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['storage_location_id', 'int(11) NOT NULL'],
      ['path', 'varchar(500) NOT NULL'],
      ['mtime', 'int(11) NOT NULL'],
      ['error', 'longtext DEFAULT NULL']
    ]
  },
  user_has_role: {
    key: 'user_id`,`role_id',
    columns: [
      ['user_id', 'int(11) NOT NULL'],
      ['role_id', 'int(11) NOT NULL']
    ]
  },
  user_login_tokens: {
    key: 'id',
    columns: [
      ['id', 'varchar(16) NOT NULL'],
      ['user_id', 'int(11) NOT NULL'],
      ['created_at', 'int(11) NOT NULL'],
      ['verifier', 'varchar(128) NOT NULL'],
      ['type', 'varchar(50) NOT NULL'],
      ['comment', 'varchar(255) DEFAULT NULL'],
      ['expires_at', 'int(11) NOT NULL']
    ]
  },
  user_passkeys: {
    key: 'id',
    columns: [
      ['id', 'varchar(64) NOT NULL'],
      ['user_id', 'int(11) NOT NULL'],
      ['created_at', 'int(11) NOT NULL'],
      ['name', 'varchar(255) NOT NULL'],
      ['full_id', 'longtext NOT NULL'],
      ['public_key_pem', 'longtext NOT NULL']
    ]
  },
  users: {
    key: 'id',
    columns: [
      ['id', 'int(11) NOT NULL AUTO_INCREMENT'],
      ['email', 'varchar(100) NOT NULL'],
      ['auth_password', 'varchar(255) NOT NULL'],
      ['name', 'varchar(100) DEFAULT NULL'],
      ['locale', 'varchar(25) DEFAULT NULL'],
      ['created_at', 'int(11) NOT NULL'],
      ['updated_at', 'int(11) NOT NULL'],
      ['two_factor_secret', 'varchar(255) DEFAULT NULL'],
      ['show_24_hour_time', 'tinyint(1) DEFAULT NULL']
    ]
  }
}
