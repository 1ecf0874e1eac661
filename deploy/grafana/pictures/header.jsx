import { theme } from './theme.js';

/** The title and the variables, which Grafana does not publish as components. */
export function Head({ title, chosen, minutes }) {
  const pill = {
    border: `1px solid ${theme.colors.border.medium}`,
    borderRadius: 2,
    padding: '4px 8px',
    background: theme.colors.background.primary,
  };
  return (
    <div>
      <div style={{ display: 'flex', justifyContent: 'space-between', fontSize: 16, marginBottom: 10 }}>
        <span>{title}</span>
        <span style={{ ...pill, fontSize: 12 }}>Last {minutes} minutes</span>
      </div>
      <div style={{ display: 'flex', gap: 16, fontSize: 12 }}>
        {Object.entries(chosen).map(([label, value]) => (
          <span key={label}>
            <span style={{ ...pill, background: theme.colors.background.secondary }}>{label}</span>
            <span style={pill}>{value}</span>
          </span>
        ))}
      </div>
    </div>
  );
}
