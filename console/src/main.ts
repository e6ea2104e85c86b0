import 'uplot/dist/uPlot.min.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/tables.css';
import './styles/layout.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { takeLinks } from './lib/router.svelte';

takeLinks(document.body);
mount(App, { target: document.getElementById('app')! });
